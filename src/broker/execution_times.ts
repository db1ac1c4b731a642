/** ExecutionTimes: how long making and changing topics and groups took, as /metrics shows it. */
import { assert } from "../base/assert.ts";
import { Histogram } from "../base/histogram.ts";
import type { Clock } from "../io/clock.ts";
import type { RemotingCommand } from "../protocol/remoting_command.ts";
import { ResponseCode } from "../protocol/response_code.ts";
import { HELD, type RequestProcessor } from "../remoting/request_processor.ts";

/** Milliseconds; those of RocketMQ's rocketmq_topic_create_execution_time. */
const BOUNDS_MS = Float64Array.of(10, 100, 1_000, 3_000, 5_000);

/** Executions of one kind. */
export class ExecutionTime {
  readonly timeMs = new Histogram(BOUNDS_MS);

  constructor(
    readonly isSuccess: boolean,
    /** Undefined for groups. */
    readonly isSystem: boolean | undefined,
  ) {}
}

/** All executions of one processor. */
export class ExecutionTimes {
  readonly #clock: Clock;
  readonly #times: ExecutionTime[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** By success and, of topics, by whose they are: four at most. */
  get times(): readonly ExecutionTime[] {
    return this.#times;
  }

  /** `processor`, measured; `isSystem` says whose the topic of a request is. */
  wrap(
    processor: RequestProcessor,
    isSystem: (request: RemotingCommand) => boolean | undefined,
  ): RequestProcessor {
    return async (context, request) => {
      const startedMs = this.#clock.monotonicMs();
      const whose = isSystem(request);
      let isSuccess = false;
      try {
        const answer = await processor(context, request);
        assert(answer !== HELD, "whoever makes a topic or group answers");
        isSuccess = answer.code === ResponseCode.SUCCESS;
        return answer;
      } finally {
        const elapsedMs = this.#clock.monotonicMs() - startedMs;
        this.#of(isSuccess, whose).timeMs.add(Math.floor(elapsedMs));
      }
    };
  }

  #of(isSuccess: boolean, isSystem: boolean | undefined): ExecutionTime {
    let time = this.#times.find((it) =>
      it.isSuccess === isSuccess && it.isSystem === isSystem
    );
    if (time === undefined) {
      this.#times.push(time = new ExecutionTime(isSuccess, isSystem));
    }
    return time;
  }
}
