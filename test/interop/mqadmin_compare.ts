/** What two clusters printed, without what differs by nature, and the lines that differ then. */

/** What differs between any two runs, and what stands for it. In this order. */
const MASKS: readonly (readonly [RegExp, string])[] = [
  [/\d{4}-\d\d-\d\d[ T#]\d\d:\d\d:\d\d([,.:]\d{3})?/g, "TIME"],
  [/\b(1[78]\d{11}|20\d{12}|20\d{15})\b/g, "TIME"],
  [/\[ \d+ days, .*seconds \]/g, "TIME"],
  [/(putMessageDistributeTime ?:).*$/g, "$1 TIMES"],
  [/(\w+Tps ?:).*$/g, "$1 RATES"],
  [/((remainHowManyDataToFlush|dispatchBehindBytes) ?:).*$/g, "$1 BYTES"],
  [/((spentTimeMills|rt)=)\d+/g, "$1TIME"],
  [/^(broker-a \d true) \d+$/g, "$1 TIME"],
  [/(\w+(?:Mills|Behind) ?: ?)\d+/g, "$1TIME"],
  // clusterList: how long pools made wait, and how far the timer is.
  [/\(\d+,\d+ms(\|\d+,\d+ms)?\)/g, "(TIME)"],
  [/ \d+-\d+\(/g, " TIME("],
  [/("cpuNum":)"\d+"/g, "$1NUMBER"],
  [/(\w+EntireTimeMax *: )\d+/g, "$1TIME"],
  [/((delay|lastPull|lastConsume)\w*"?:)\d+/g, "$1TIME"],
  [/\b[0-9A-F]{32}\b/g, "ID"],
  [/(@|\$\$Lambda\$\d+\/0x)[0-9a-f]{6,16}\b/g, "$1HASH"],
  [/Lambda\$\d+/g, "Lambda"],
  [/\d+\.\d+\.\d+\.\d+:\d+/g, "ADDRESS"],
  [/\d+\.\d+\.\d+\.\d+/g, "HOST"],
  [/((?:l|L)istenPort = )\d+/g, "$1PORT"],
  [/\/[\w./-]*pocketmq-\w+[\w./-]*/g, "PATH"],
  [/\bV\d+_\d+_\d+\b/g, "VERSION"],
  [/(version"?[:=] ?)\d+/gi, "$1ORDINAL"],
  [/-?\b\d+\.\d+(E-?\d+)?%?( +\d+\.\d+(E-?\d+)?)*/g, "RATE"],
  // consumerProgress cuts the rate of a group to a whole number, 0 until the first sample.
  [/^(\S+ \d+ (?:VERSION \w+ \w+|OFFLINE)) \d+ /g, "$1 RATE "],
  // What waits just then; in clusterList, for how long the page cache was locked.
  [/(\w+QueueSize ?: )\d+/g, "$1SIZE"],
  [/\) \d+ (?=RATE)/g, ") TIME "],
  // 5.x and ours store MSG_REGION and TRACE_ON, 5.x WAIT; 4.9 none, and no separator at the end.
  [/, (?:MSG_REGION=DefaultRegion|WAIT=true|TRACE_ON=true)/g, ""],
  [/(?:MSG_REGION=DefaultRegion|WAIT=true|TRACE_ON=true), /g, ""],
  [/((?:store|physic)Size=)\d+/g, "$1SIZE"],
  [/((?:commitLog|physic)Offset=|CommitLog Offset: +|@)\d+$/g, "$1OFFSET"],
  [/((?:commitLog|physic)Offset=)\d+/g, "$1OFFSET"],
  [/((\w*ommitLogMaxOffset|putMessageSizeTotal) *:? )\d+/g, "$1SIZE"],
];

/** Where a stack is reflected upon, or how deep, says nothing. */
const STACK_LINE = /^\s*(at \S+\(.*\)|\.\.\. \d+ more)$/;
const SETTING = /^([\w.]+) =( .*)?$/;

/** A command and what it printed. */
export type Printed = readonly [readonly string[], string];

/** By command the lines that differ; commands without a difference are left out. */
export function comparison(
  apache: readonly Printed[],
  ours: readonly Printed[],
): string {
  const names = namesOf(apache);
  const blocks = apache.map(([, theirs], at) => [
    names[at]!,
    ...differences(linesOf(theirs), linesOf(ours[at]![1])),
  ]);
  return blocks.filter((it) => it.length > 1)
    .map((it) => it.join("\n")).join("\n\n");
}

/** What both printed, unmasked, for the commands that `unexpected` names. */
export function rawOutputs(
  apache: readonly Printed[],
  ours: readonly Printed[],
  complaint: string,
): string {
  const wanted = new Set(complaint.split("\n"));
  return namesOf(apache).flatMap((name, at) =>
    wanted.has(name)
      ? [`== ${name}`, `-- Apache's`, apache[at]![1], `-- ours`, ours[at]![1]]
      : []
  ).join("\n");
}

/** Commands as the lists name them: masked, and numbered when repeated. */
function namesOf(printed: readonly Printed[]): string[] {
  const counts = new Map<string, number>();
  return printed.map(([command]) => {
    const label = masked(
      command.filter((it, index) => it !== "-n" && command[index - 1] !== "-n")
        .join(" "),
    );
    const count = (counts.get(label) ?? 0) + 1;
    counts.set(label, count);
    return count === 1 ? label : `${label} (${count})`;
  });
}

/** A list of differences without the lines that say why. */
function withoutReasons(listed: string): string {
  return listed.split("\n").filter((it) => !it.startsWith("#"))
    .join("\n").trim();
}

/** `found` with the reasons that `listed` gives for the same commands. */
export function withReasons(found: string, listed: string): string {
  const reasons = new Map(
    listed.split("\n\n").map((block): [string, string[]] => {
      const lines = block.split("\n");
      const why = lines.filter((it) => it.startsWith("#"));
      return [lines[why.length] ?? "", why];
    }),
  );
  return found.split("\n\n").map((block) => {
    const [command] = block.split("\n");
    return [...reasons.get(command!) ?? ["# ?"], block].join("\n");
  }).join("\n\n");
}

/**
 * What a run found that is not listed, and what is listed that it did not find, each line in
 * full under its command; "" when both are the same.
 */
export function unexpected(found: string, listed: string): string {
  const foundBlocks = blocksOf(found);
  const listedBlocks = blocksOf(withoutReasons(listed));
  const names = new Set([...foundBlocks.keys(), ...listedBlocks.keys()]);
  return [...names].flatMap((name) => {
    const here = foundBlocks.get(name) ?? [];
    const there = listedBlocks.get(name) ?? [];
    const lines = [
      ...without(here, there).map((it) => `  found, not listed: ${it}`),
      ...without(there, here).map((it) => `  listed, not found: ${it}`),
    ];
    return lines.length === 0 ? [] : [name, ...lines];
  }).join("\n");
}

/** By command the lines below it. */
function blocksOf(list: string): Map<string, string[]> {
  const blocks = list.split("\n\n").map((block) =>
    block.split("\n").filter((it) => it.trim() !== "")
  ).filter((it) => it.length > 0);
  return new Map(blocks.map(([name, ...lines]) => [name!, lines]));
}

/**
 * `- line` only Apache printed, `+ line` only ours; the order of lines does not count, nor do
 * settings that only one of them has.
 */
function differences(apache: string[], ours: string[]): string[] {
  return [
    ...known(without(apache, ours), ours).map((it) => `- ${it}`),
    ...known(without(ours, apache), apache).map((it) => `+ ${it}`),
  ];
}

/** Without settings that the other one does not have. */
function known(lines: string[], others: string[]): string[] {
  const names = new Set(others.map((it) => SETTING.exec(it)?.[1]));
  return lines.filter((it) => {
    const name = SETTING.exec(it)?.[1];
    return name === undefined || names.has(name);
  });
}

function linesOf(output: string): string[] {
  return output.split("\n").filter((it) => !STACK_LINE.test(it)).map(masked)
    .filter((it) => it !== "");
}

function masked(line: string): string {
  let text = line.replaceAll(/\s+/g, " ").trim();
  for (const [pattern, name] of MASKS) text = text.replaceAll(pattern, name);
  return text.trim();
}

/** The lines of `a` that `b` does not have as often. */
function without(a: string[], b: string[]): string[] {
  const left = new Map<string, number>();
  for (const it of b) left.set(it, (left.get(it) ?? 0) + 1);
  return a.filter((it) => {
    const count = left.get(it) ?? 0;
    left.set(it, count - 1);
    return count <= 0;
  });
}
