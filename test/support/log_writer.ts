/** Logs a few lines; arguments are level and format. */
import { openRuntime } from "#runtime";
import type { LogOptions } from "../../src/runtime/runtime.ts";

const { process, openLogger } = openRuntime();
const logger = openLogger({
  level: process.args[0] as LogOptions["level"],
  format: process.args[1] as LogOptions["format"],
});
const broker = logger.child("broker");
logger.info("The root speaks");
logger.debug("Details");
broker.child("ha").warn("Slave {addr} is slow", { lagMs: 4 });
broker.error("It broke", { error: new Error("Disk gone") });
