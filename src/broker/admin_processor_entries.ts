/** The broker's administration codes, all nouns together (reference 2.6, 2.7). */
import type { RequestProcessor } from "../remoting/request_processor.ts";
import {
  type CallConsumerDeps,
  callConsumerProcessors,
} from "./processor/call_consumer_processor.ts";
import {
  type CleanAdminDeps,
  cleanAdminProcessors,
} from "./processor/clean_admin_processor.ts";
import {
  type ConfigAdminDeps,
  configAdminProcessors,
} from "./processor/config_admin_processor.ts";
import {
  type ConnectionAdminDeps,
  connectionAdminProcessors,
} from "./processor/connection_admin_processor.ts";
import {
  type GroupAdminDeps,
  groupAdminProcessors,
} from "./processor/group_admin_processor.ts";
import {
  type GroupOffsetDeps,
  groupOffsetProcessors,
} from "./processor/group_offset_processor.ts";
import {
  type GroupTopicDeps,
  groupTopicProcessors,
} from "./processor/group_topic_processor.ts";
import {
  type HAStatusDeps,
  haStatusProcessors,
} from "./processor/ha_status_processor.ts";
import { logDigestProcessors } from "./processor/log_digest_processor.ts";
import {
  type OffsetAdminDeps,
  offsetAdminProcessors,
} from "./processor/offset_admin_processor.ts";
import {
  type QueryConsumeQueueDeps,
  queryConsumeQueueProcessors,
} from "./processor/query_consume_queue_processor.ts";
import {
  type ResetOffsetDeps,
  resetOffsetProcessors,
} from "./processor/reset_offset_processor.ts";
import {
  type RuntimeInfoDeps,
  runtimeInfoProcessors,
} from "./processor/runtime_info_processor.ts";
import {
  type StatsAdminDeps,
  statsAdminProcessors,
} from "./processor/stats_admin_processor.ts";
import {
  type TimerAdminDeps,
  timerAdminProcessors,
} from "./processor/timer_admin_processor.ts";
import {
  type TopicAdminDeps,
  topicAdminProcessors,
} from "./processor/topic_admin_processor.ts";

/** What all of them work on. */
export type AdminBrokerDeps =
  & CallConsumerDeps
  & CleanAdminDeps
  & ConfigAdminDeps
  & ConnectionAdminDeps
  & GroupAdminDeps
  & GroupOffsetDeps
  & GroupTopicDeps
  & HAStatusDeps
  & OffsetAdminDeps
  & QueryConsumeQueueDeps
  & ResetOffsetDeps
  & RuntimeInfoDeps
  & StatsAdminDeps
  & TimerAdminDeps
  & TopicAdminDeps;

/** Processors by request code. */
export function* adminProcessorEntries(
  deps: AdminBrokerDeps,
): Iterable<readonly [number, RequestProcessor]> {
  yield* topicAdminProcessors(deps);
  yield* groupAdminProcessors(deps);
  yield* groupOffsetProcessors(deps);
  yield* groupTopicProcessors(deps);
  yield* callConsumerProcessors(deps);
  yield* queryConsumeQueueProcessors(deps);
  yield* offsetAdminProcessors(deps);
  yield* timerAdminProcessors(deps);
  yield* resetOffsetProcessors(deps);
  yield* cleanAdminProcessors(deps);
  yield* configAdminProcessors(deps);
  yield* connectionAdminProcessors(deps);
  yield* statsAdminProcessors(deps);
  yield* runtimeInfoProcessors(deps);
  yield* haStatusProcessors(deps);
  yield* logDigestProcessors(deps);
}
