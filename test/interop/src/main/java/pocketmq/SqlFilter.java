package pocketmq;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.rocketmq.client.consumer.DefaultLitePullConsumer;
import org.apache.rocketmq.client.consumer.DefaultMQPullConsumer;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.MessageSelector;
import org.apache.rocketmq.client.consumer.PullResult;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;

/** SQL92 subscriptions of a push, a lite pull and a pull consumer, and one that cannot be read. */
final class SqlFilter {
    private static final int COUNT = 300;
    private static final List<String> FAULTS = Collections.synchronizedList(new ArrayList<String>());

    private SqlFilter() {
    }

    static void run(Arguments arguments) throws Exception {
        String namesrv = arguments.text("namesrv");
        String topic = arguments.text("topic");
        DefaultMQProducer producer = new DefaultMQProducer("sql-producers");
        producer.setNamesrvAddr(namesrv);
        producer.start();
        send(producer, topic, 0, COUNT / 2);

        Set<String> pushed = ConcurrentHashMap.newKeySet();
        DefaultMQPushConsumer push = pushConsumer(namesrv, "sql-push", pushed);
        push.subscribe(topic, MessageSelector.bySql("a BETWEEN 100 AND 199 AND c = 'x'"));
        push.start();
        Driver.await(30, () -> pushed.size() >= 25);
        // The rest finds held pulls.
        send(producer, topic, COUNT / 2, COUNT);
        producer.shutdown();
        Driver.await(30, () -> pushed.size() >= 50);

        DefaultLitePullConsumer lite = new DefaultLitePullConsumer("sql-lite");
        lite.setNamesrvAddr(namesrv);
        lite.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        lite.subscribe(topic, MessageSelector.bySql("a >= 280 OR missing = 1"));
        lite.start();
        Set<String> polled = ConcurrentHashMap.newKeySet();
        Driver.await(30, () -> {
            for (MessageExt message : lite.poll(200)) {
                take(polled, message);
            }
            return polled.size() >= 20;
        });
        lite.shutdown();

        Set<String> pulled = pull(namesrv, topic, "c = 'y' AND a < 40");
        int refused = refused(namesrv, topic);
        push.shutdown();
        check(pushed, 100, 199, 0);
        check(polled, 280, COUNT - 1, -1);
        check(pulled, 0, 39, 1);
        Driver.result(FAULTS, "pushed", pushed.size(), "polled", polled.size(), "pulled", pulled.size(),
            "refused", refused);
    }

    private static void send(DefaultMQProducer producer, String topic, int from, int to) throws Exception {
        for (int i = from; i < to; i++) {
            Message message = new Message(topic, "TagA", "key" + i, new byte[] {1});
            message.putUserProperty("a", String.valueOf(i));
            message.putUserProperty("c", i % 2 == 0 ? "x" : "y");
            producer.send(message);
        }
    }

    private static DefaultMQPushConsumer pushConsumer(String namesrv, String group, Set<String> keys) {
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer(group);
        consumer.setNamesrvAddr(namesrv);
        consumer.setInstanceName(group);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            for (MessageExt message : messages) {
                take(keys, message);
            }
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        return consumer;
    }

    /** The expression goes with every pull. */
    private static Set<String> pull(String namesrv, String topic, String sql) throws Exception {
        Set<String> keys = ConcurrentHashMap.newKeySet();
        DefaultMQPullConsumer consumer = new DefaultMQPullConsumer("sql-pull");
        consumer.setNamesrvAddr(namesrv);
        // So that it sends heartbeats: their answers tell it that the broker knows SQL92.
        consumer.setRegisterTopics(Collections.singleton(topic));
        consumer.start();
        for (MessageQueue queue : consumer.fetchSubscribeMessageQueues(topic)) {
            long end = consumer.maxOffset(queue);
            for (long offset = 0; offset < end;) {
                PullResult result = pull(consumer, queue, sql, offset);
                if (result.getMsgFoundList() != null) {
                    for (MessageExt message : result.getMsgFoundList()) {
                        take(keys, message);
                    }
                }
                if (result.getNextBeginOffset() <= offset) {
                    FAULTS.add("pull at " + offset + " of " + end + " does not go on: " + result);
                    break;
                }
                offset = result.getNextBeginOffset();
            }
        }
        consumer.shutdown();
        return keys;
    }

    /** The first heartbeat is sent a second after the start. */
    private static PullResult pull(DefaultMQPullConsumer consumer, MessageQueue queue, String sql, long offset)
        throws Exception {
        long deadline = System.currentTimeMillis() + 20_000;
        while (true) {
            try {
                return consumer.pull(queue, MessageSelector.bySql(sql), offset, 32);
            } catch (MQClientException e) {
                if (!e.getMessage().contains("does not upgrade") || System.currentTimeMillis() > deadline) {
                    throw e;
                }
                Thread.sleep(20);
            }
        }
    }

    /** 1 when the broker's sentence with the position comes out of start(). */
    private static int refused(String namesrv, String topic) throws Exception {
        DefaultMQPushConsumer consumer = pushConsumer(namesrv, "sql-wrong", ConcurrentHashMap.<String>newKeySet());
        consumer.subscribe(topic, MessageSelector.bySql("a > 'x'"));
        try {
            consumer.start();
            FAULTS.add("an expression that cannot be read was taken");
            return 0;
        } catch (MQClientException e) {
            StringBuilder text = new StringBuilder();
            for (Throwable it = e; it != null; it = it.getCause()) {
                text.append(it.getMessage()).append('\n');
            }
            if (text.indexOf("position 5") < 0) {
                FAULTS.add("refused without the position: " + text);
            }
            return 1;
        } finally {
            consumer.shutdown();
        }
    }

    private static void take(Set<String> keys, MessageExt message) {
        if (!keys.add(message.getKeys())) {
            FAULTS.add(message.getKeys() + " came twice");
        }
    }

    /** All keys within the bounds and of that remainder; any remainder for -1. */
    private static void check(Set<String> keys, int from, int to, int remainder) {
        for (int i = 0; i < COUNT; i++) {
            boolean isWanted = i >= from && i <= to && (remainder < 0 || i % 2 == remainder);
            if (isWanted != keys.contains("key" + i)) {
                FAULTS.add("key" + i + (isWanted ? " is missing" : " is not wanted"));
            }
        }
    }
}
