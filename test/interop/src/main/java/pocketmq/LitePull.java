package pocketmq;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.rocketmq.client.consumer.DefaultLitePullConsumer;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;

/** DefaultLitePullConsumer: assign with seek, subscribe with commit and a second member that goes on. */
final class LitePull {
    private static final int COUNT = 500;
    private static final List<String> FAULTS = Collections.synchronizedList(new ArrayList<String>());

    private LitePull() {
    }

    static void run(Arguments arguments) throws Exception {
        String namesrv = arguments.text("namesrv");
        String topic = arguments.text("topic");
        DefaultMQProducer producer = new DefaultMQProducer("lite-producers");
        producer.setNamesrvAddr(namesrv);
        producer.start();
        for (int i = 0; i < COUNT; i++) {
            producer.send(new Message(topic, "TagA", "key" + i, ("body" + i).getBytes("UTF-8")));
        }
        producer.shutdown();

        DefaultLitePullConsumer assigned = consumer(namesrv, "lite-assign", "assign");
        assigned.setAutoCommit(false);
        assigned.start();
        Collection<MessageQueue> queues = assigned.fetchMessageQueues(topic);
        assigned.assign(queues);
        for (MessageQueue queue : queues) {
            assigned.seek(queue, 0);
        }
        int byAssign = poll(assigned, COUNT).size();
        assigned.shutdown();

        DefaultLitePullConsumer first = consumer(namesrv, "lite-subscribe", "first");
        first.setAutoCommit(false);
        first.subscribe(topic, "*");
        first.start();
        Set<String> bySubscribe = poll(first, COUNT);
        first.commitSync();
        Thread.sleep(200);
        first.shutdown();

        producer = new DefaultMQProducer("lite-producers");
        producer.setNamesrvAddr(namesrv);
        producer.start();
        for (int i = COUNT; i < COUNT + 50; i++) {
            producer.send(new Message(topic, "TagA", "key" + i, new byte[] {1}));
        }
        producer.shutdown();
        DefaultLitePullConsumer second = consumer(namesrv, "lite-subscribe", "second");
        second.subscribe(topic, "*");
        second.start();
        Set<String> afterCommit = poll(second, 50);
        second.shutdown();
        for (String key : afterCommit) {
            if (Integer.parseInt(key.substring(3)) < COUNT) {
                FAULTS.add(key + " came again after its offset was committed");
            }
        }
        Driver.result(FAULTS, "byAssign", byAssign, "bySubscribe", bySubscribe.size(),
            "afterCommit", afterCommit.size());
    }

    private static DefaultLitePullConsumer consumer(String namesrv, String group, String instance) {
        DefaultLitePullConsumer consumer = new DefaultLitePullConsumer(group);
        consumer.setNamesrvAddr(namesrv);
        consumer.setInstanceName(instance);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        return consumer;
    }

    private static Set<String> poll(DefaultLitePullConsumer consumer, int count) {
        Set<String> keys = new HashSet<>();
        long deadline = System.currentTimeMillis() + 40_000;
        while (keys.size() < count && System.currentTimeMillis() < deadline) {
            for (MessageExt message : consumer.poll(500)) {
                if (!keys.add(message.getKeys())) {
                    FAULTS.add(message.getKeys() + " came twice");
                }
            }
        }
        return keys;
    }
}
