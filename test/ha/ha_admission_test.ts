import { test } from "node:test";
import { assertEquals } from "@std/assert";
import { HAAdmission } from "../../src/ha/ha_admission.ts";

const REPORT = Uint8Array.of(0, 0, 0, 0, 0, 0, 1, 2);

class Site {
  answer: string | null | Promise<string | null> = null;
  asked = 0;
  readonly answers: boolean[] = [];
  readonly admission = new HAAdmission(
    () => {
      this.asked++;
      return this.answer;
    },
    (isNews) => void this.answers.push(isNews),
  );
}

test("HAAdmission asks at the first whole report, however it is cut", () => {
  for (let cut = 0; cut <= 8; cut++) {
    const { admission, ...site } = new Site();
    const it = Object.assign(site, { admission });
    admission.hold(REPORT.subarray(0, cut), 1);
    admission.hold(REPORT.subarray(cut), 2);
    assertEquals(admission.isAdmitted, true);
    assertEquals([...admission.report], [...REPORT]);
    assertEquals(it.answers, [false]);
  }
});

test("HAAdmission holds one report while it waits and cuts none in two", async () => {
  const site = new Site();
  const answer = Promise.withResolvers<string | null>();
  site.answer = answer.promise;
  site.admission.hold(Uint8Array.of(...REPORT, ...REPORT, 0, 0, 0), 1);
  assertEquals(site.admission.isAdmitted, false);
  answer.resolve(null);
  await answer.promise;
  for (let turn = 0; turn < 4; turn++) await Promise.resolve();
  assertEquals(site.admission.isAdmitted, true);
  // Five bytes are left of the third report.
  const rest = site.admission.rest(Uint8Array.of(0, 0));
  assertEquals(rest.length, 0);
  assertEquals([...site.admission.rest(Uint8Array.of(0, 1, 2, 7))], [7]);
  assertEquals([...site.admission.rest(REPORT)], [...REPORT]);
});

test("HAAdmission looks again at a refused slave, and lets it in when it is cured", () => {
  const site = new Site();
  site.answer = "sizes differ";
  site.admission.hold(REPORT, 0);
  assertEquals(site.admission.refusal, "sizes differ");
  site.admission.hold(REPORT, 1_000);
  site.admission.tick(1_999);
  assertEquals(site.asked, 1);
  site.admission.tick(2_000);
  assertEquals([site.asked, site.answers.length], [2, 2]);
  assertEquals(site.answers, [true, false]);
  site.answer = null;
  site.admission.tick(4_000);
  assertEquals(site.admission.isAdmitted, true);
  assertEquals(site.admission.refusal, null);
});

test("HAAdmission lets a slave in when nobody can be asked", async () => {
  const site = new Site();
  site.answer = Promise.reject(new Error("no name server"));
  site.admission.hold(REPORT, 0);
  for (let turn = 0; turn < 4; turn++) await Promise.resolve();
  assertEquals(site.admission.isAdmitted, true);
});
