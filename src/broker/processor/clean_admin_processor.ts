/**
 * Cleaning by hand: CLEAN_EXPIRED_CONSUMEQUEUE (306), CLEAN_UNUSED_TOPIC (316),
 * DELETE_EXPIRED_COMMITLOG (329); reference 2.7.
 *
 * Java's 306 also lets a queue whose records are all gone begin at 0 again, and its consumers
 * with it; here it keeps its place.
 */
import type { Logger } from "../../io/logger.ts";
import {
  createResponse,
  type RemotingCommand,
} from "../../protocol/remoting_command.ts";
import { RequestCode } from "../../protocol/request_code.ts";
import { ResponseCode } from "../../protocol/response_code.ts";
import type {
  ProcessorTable,
  RequestContext,
  RequestProcessor,
} from "../../remoting/request_processor.ts";
import type { BrokerOptions } from "../broker_options.ts";
import type { TopicConfigManager } from "../topic_config_manager.ts";
import { notStored } from "./admin_response.ts";

/** What can be cleaned. */
export interface CleanableStore {
  topics(): readonly string[];
  deleteTopics(topics: readonly string[]): Promise<void>;
  cleanExpiredConsumeQueue(): Promise<number>;
  executeDeleteFilesManually(): void;
}

/** What the processors work on. */
export interface CleanAdminDeps {
  readonly logger: Logger;
  readonly options: () => BrokerOptions;
  readonly messageStore: CleanableStore;
  readonly topicConfigManager: TopicConfigManager;
}

/** Processors by request code. */
export function cleanAdminProcessors(deps: CleanAdminDeps): ProcessorTable {
  const { messageStore } = deps;
  return new Map<number, RequestProcessor>([
    [
      RequestCode.CLEAN_EXPIRED_CONSUMEQUEUE,
      (context) =>
        clean(deps, context, "expired queue files", async () => {
          await messageStore.cleanExpiredConsumeQueue();
        }),
    ],
    [
      RequestCode.CLEAN_UNUSED_TOPIC,
      (context) =>
        clean(
          deps,
          context,
          "queues of topics that do not exist",
          () => messageStore.deleteTopics(unusedTopics(deps)),
        ),
    ],
    [
      RequestCode.DELETE_EXPIRED_COMMITLOG,
      (context) =>
        clean(deps, context, "expired commit log files", () => {
          messageStore.executeDeleteFilesManually();
          return Promise.resolve();
        }),
    ],
  ]);
}

/** A slave's table comes from its master: what is not in it yet may come. */
function unusedTopics(deps: CleanAdminDeps): readonly string[] {
  if (deps.options().brokerRole === "SLAVE") return [];
  return deps.messageStore.topics().filter((it) =>
    deps.topicConfigManager.selectTopicConfig(it) === undefined
  );
}

async function clean(
  { logger }: CleanAdminDeps,
  context: RequestContext,
  what: string,
  run: () => Promise<void>,
): Promise<RemotingCommand> {
  logger.info(`a client cleans ${what}`, {
    client: context.connection.remoteAddress,
  });
  try {
    await run();
  } catch (error) {
    return notStored(`The removal of ${what}`, error);
  }
  return createResponse(ResponseCode.SUCCESS);
}
