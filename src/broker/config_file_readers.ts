/**
 * The readers of the files below `config/`, as a broker that starts uses them, for tools that
 * look at a store without one.
 */
import type { Logger } from "../io/logger.ts";
import type { ConfigReader } from "../store/verify_config.ts";
import { decodeConsumerFilters } from "./consumer_filter_manager.ts";
import { OFFSETS_FILE_NAME, parseOffsets } from "./consumer_offset_table.ts";
import { decodeDelayOffsets } from "./delay_offset_file.ts";
import { parseHAPeers } from "./ha_peers_file.ts";
import { parseHARole } from "./ha_role_file.ts";
import { checkedRequestModes } from "./message_request_mode_file.ts";
import { GROUPS_CODEC } from "./subscription_group_manager.ts";
import { type TableCodec, TableFile } from "./table_file.ts";
import { TOPICS_CODEC } from "./topic_config_manager.ts";

/** By file name. */
export const CONFIG_FILE_READERS: ReadonlyMap<string, ConfigReader> = new Map([
  tableReader(TOPICS_CODEC),
  tableReader(GROUPS_CODEC),
  [OFFSETS_FILE_NAME, readOffsets],
  ["delayOffset.json", wholeReader(decodeDelayOffsets)],
  ["consumerFilter.json", wholeReader(decodeConsumerFilters)],
  ["messageRequestMode.json", wholeReader(checkedRequestModes)],
  ["haRole.json", wholeReader(parseHARole)],
  ["haPeers.json", wholeReader(parseHAPeers)],
]);

/** A file of which a bad entry is left out. */
function tableReader<T>(codec: TableCodec<T>): [string, ConfigReader] {
  return [codec.fileName, (text) => {
    const leftOut: string[] = [];
    new TableFile(codec, loggerInto(leftOut)).decode(text);
    return leftOut;
  }];
}

function readOffsets(text: string): string[] {
  const leftOut: string[] = [];
  parseOffsets(text, (key, error) => leftOut.push(leftOutText(key, error)));
  return leftOut;
}

/** A file that is taken as a whole or not at all. */
function wholeReader(parse: (text: string) => unknown): ConfigReader {
  return (text) => {
    parse(text);
    return [];
  };
}

/** What would be a line of the broker's log. */
function loggerInto(leftOut: string[]): Logger {
  const ignore = () => {};
  const logger: Logger = {
    debug: ignore,
    info: ignore,
    warn: (_, fields) =>
      leftOut.push(leftOutText(fields?.entry, fields?.error)),
    error: ignore,
    child: () => logger,
  };
  return logger;
}

/** Without the name of the error's class. */
function leftOutText(entry: unknown, error: unknown): string {
  return `${entry}: ${String(error).replace(/^\w*Error: /, "")}`;
}
