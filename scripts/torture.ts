/**
 * Promises about a pair, and about a big broker, at full length and in real time, against the executable:
 * `scripts/torture [STORY...]`, all stories without arguments. A line for each, the last
 * one `N held, N broken`; exit 1 when one is broken.
 */
import { growthStory } from "../test/torture/growth_story.ts";
import { junkStory } from "../test/torture/junk_story.ts";
import { killStory } from "../test/torture/kill_story.ts";
import {
  capStory,
  idleStory,
  seldomStory,
  thinStory,
} from "../test/torture/link_stories.ts";
import { helpOnRequest } from "./usage.ts";
import type { Story } from "../test/torture/story.ts";

const STORIES: readonly Story[] = [
  thinStory,
  idleStory,
  seldomStory,
  capStory,
  junkStory,
  killStory,
  growthStory,
];
helpOnRequest(
  `scripts/torture [${STORIES.map((it) => it.name).join("|")} ...]`,
);
const counts = { held: 0, broken: 0 };

const wanted = storiesOf(process.argv.slice(2));
const built = Bun.spawnSync([
  "node_modules/.bin/bun",
  "scripts/build.ts",
]);
if (built.exitCode !== 0) {
  console.error(String(built.stderr));
  process.exit(1);
}
await Promise.all(wanted.filter((it) => it.isQuiet).map(tell));
for (const it of wanted.filter((it) => !it.isQuiet)) await tell(it);
console.log(`${counts.held} held, ${counts.broken} broken`);
process.exit(counts.broken === 0 ? 0 : 1);

function storiesOf(names: string[]): readonly Story[] {
  for (const name of names) {
    if (STORIES.some((it) => it.name === name)) continue;
    const known = STORIES.map((it) => it.name).join(", ");
    console.error(`Unknown story ${name}: use ${known}`);
    process.exit(2);
  }
  if (names.length === 0) return STORIES;
  return STORIES.filter((it) => names.includes(it.name));
}

async function tell(story: Story): Promise<void> {
  const startedAt = performance.now();
  const seconds = () =>
    `${((performance.now() - startedAt) / 1000).toFixed()} s`;
  const head = `${story.name.padEnd(6)} ${story.promise}`;
  try {
    const figures = await story.run();
    counts.held++;
    console.log(`held   ${head}: ${figures} (${seconds()})`);
  } catch (error) {
    counts.broken++;
    console.log(`BROKEN ${head}: ${error} (${seconds()})`);
  }
}
