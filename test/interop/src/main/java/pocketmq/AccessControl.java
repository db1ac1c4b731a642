package pocketmq;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.rocketmq.acl.common.AclClientRPCHook;
import org.apache.rocketmq.acl.common.SessionCredentials;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragely;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.remoting.RPCHook;

/** What accounts of access control are let do; each line of the result is the broker's code, 0 for a success. */
final class AccessControl {
    private final String namesrv;
    private final List<String> faults = new ArrayList<>();
    private int clients;

    private AccessControl(Arguments arguments) {
        namesrv = arguments.text("namesrv");
    }

    static void run(Arguments arguments) throws Exception {
        new AccessControl(arguments).run();
    }

    private void run() throws Exception {
        RPCHook right = hook("client-key", "client-secret");
        int unsigned = send(null, "Mine", 1, false);
        int wrong = send(hook("client-key", "another-secret"), "Mine", 1, false);
        int unknown = send(hook("stranger", "client-secret"), "Mine", 1, false);
        int forbidden = send(right, "Other", 1, false);
        int denied = send(right, "Denied", 1, false);
        int deniedBatch = send(right, "Denied", 3, false);
        int allowed = send(right, "Mine", 1, false);
        int batch = send(right, "Mine", 3, false);
        int vip = send(right, "Mine", 1, true);
        int vipWrong = send(hook("client-key", "another-secret"), "Mine", 1, true);
        int white = send(hook("white-key", "not-its-secret"), "Mine", 1, false);
        int received = consume(right, "mine", 6);
        int closed = consume(right, "closed", 0);
        int stranger = consume(hook("client-key", "another-secret"), "mine", 0);
        Driver.result(faults, "unsigned", unsigned, "wrong", wrong, "unknown", unknown, "forbidden", forbidden,
            "denied", denied, "deniedBatch", deniedBatch, "allowed", allowed, "batch", batch, "vip", vip,
            "vipWrong", vipWrong, "white", white, "received", received, "closed", closed, "stranger", stranger);
    }

    private static RPCHook hook(String accessKey, String secretKey) {
        return new AclClientRPCHook(new SessionCredentials(accessKey, secretKey));
    }

    private int send(RPCHook hook, String topic, int count, boolean vip) throws Exception {
        DefaultMQProducer producer = new DefaultMQProducer("acl-producers", hook);
        producer.setNamesrvAddr(namesrv);
        producer.setInstanceName("acl-" + clients++);
        producer.setVipChannelEnabled(vip);
        producer.setRetryTimesWhenSendFailed(0);
        producer.start();
        try {
            Driver.findTopics(producer, topic);
            List<Message> messages = new ArrayList<>(Collections.nCopies(count, null));
            messages.replaceAll(it -> new Message(topic, "TagA", "key", "größe".getBytes()));
            if (count == 1) {
                producer.send(messages.get(0));
            } else {
                producer.send(messages);
            }
            return 0;
        } catch (MQClientException e) {
            // What the last try was answered.
            System.out.println("REFUSED " + e.getMessage());
            return e.getResponseCode();
        } finally {
            producer.shutdown();
        }
    }

    /** How many messages come, within 20 s, or within 3 s if none should. */
    private int consume(RPCHook hook, String group, int expected) throws Exception {
        DefaultMQPushConsumer consumer =
            new DefaultMQPushConsumer(group, hook, new AllocateMessageQueueAveragely());
        consumer.setNamesrvAddr(namesrv);
        consumer.setInstanceName("acl-" + clients++);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.subscribe("Mine", "*");
        CountDownLatch awaited = new CountDownLatch(expected == 0 ? 1 : expected);
        int awaitedBefore = (int) awaited.getCount();
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            messages.forEach(it -> awaited.countDown());
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        consumer.start();
        awaited.await(expected == 0 ? 3 : 20, TimeUnit.SECONDS);
        int received = awaitedBefore - (int) awaited.getCount();
        consumer.shutdown();
        return received;
    }
}
