/** RefusedPull: why a group may not pull, as code, remark and forbiddenType (reference 9.1). */
import { ResponseCode } from "../protocol/response_code.ts";

/** Why a group may not pull; an ext field of 5.x answers. */
export const ForbiddenType = {
  BROKER_FORBIDDEN: 1,
  GROUP_FORBIDDEN: 2,
  TOPIC_FORBIDDEN: 3,
  BROADCASTING_DISABLE_FORBIDDEN: 4,
  SUBSCRIPTION_FORBIDDEN: 5,
} as const;

/** Why it may not. */
export interface RefusedPull {
  readonly code: number;
  readonly remark: string;
  readonly forbiddenType?: number;
}

/** NO_PERMISSION with its reason. */
export function forbidden(forbiddenType: number, remark: string): RefusedPull {
  return { code: ResponseCode.NO_PERMISSION, remark, forbiddenType };
}
