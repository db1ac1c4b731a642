/** MQAdmin: administration over the remoting protocol, so that it works on Apache's servers too. */
import { ClusterAdmin } from "./cluster_admin.ts";
import { GroupAdmin } from "./group_admin.ts";
import { GroupMembersAdmin } from "./group_members_admin.ts";
import { MessageAdmin } from "./message_admin.ts";
import type { MQClientInstance } from "./mq_client_instance.ts";
import { TopicAdmin } from "./topic_admin.ts";

/** Refusals are thrown as `MQClientError`, with the broker's code and remark. */
export class MQAdmin {
  readonly topics: TopicAdmin;
  readonly groups: GroupAdmin;
  readonly members: GroupMembersAdmin;
  readonly messages: MessageAdmin;
  readonly cluster: ClusterAdmin;

  /** Starts the instance when nobody did. */
  constructor(instance: MQClientInstance) {
    instance.start();
    this.topics = new TopicAdmin(instance);
    this.groups = new GroupAdmin(instance, this.topics);
    this.members = new GroupMembersAdmin(instance, this.groups);
    this.messages = new MessageAdmin(instance);
    this.cluster = new ClusterAdmin(instance);
  }
}
