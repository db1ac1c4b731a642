package pocketmq;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendStatus;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;

/**
 * Delayed messages, messages that are consumed at the third attempt, and some that never are and
 * end as dead letters. The broker's levels are "1s 1s 1s 2s 2s ...", and it may restart meanwhile.
 */
final class Retries {
    private static final int LEVELS = 2;
    private static final int FLAKY_RETRIES = 2;
    private static final int MAX_RECONSUME_TIMES = 2;
    private final Arguments arguments;
    private final String topic;
    private final int count;
    private final List<String> faults = Collections.synchronizedList(new ArrayList<String>());
    private final Map<String, Long> sentMs = new ConcurrentHashMap<>();
    private final Set<String> delayed = ConcurrentHashMap.newKeySet();
    private final Set<String> flaky = ConcurrentHashMap.newKeySet();
    private final Set<String> dead = ConcurrentHashMap.newKeySet();
    private final AtomicInteger repeated = new AtomicInteger();

    Retries(Arguments arguments) {
        this.arguments = arguments;
        topic = arguments.text("topic");
        count = arguments.number("count", 100);
    }

    void run() throws Exception {
        String group = arguments.text("group");
        DefaultMQPushConsumer consumer = consumer(group, topic, this::consume);
        consumer.setMaxReconsumeTimes(MAX_RECONSUME_TIMES);
        consumer.start();
        DefaultMQProducer producer = new DefaultMQProducer("retry-producers");
        producer.setNamesrvAddr(arguments.text("namesrv"));
        producer.setInstanceName("producer");
        producer.setSendMsgTimeout(20_000);
        producer.start();
        Driver.findTopics(producer, topic);
        for (int i = 0; i < count; i++) {
            send(producer, "flaky" + i, 0);
            send(producer, "poison" + i, 0);
            send(producer, "delayed" + i, 1 + i % LEVELS);
        }
        System.out.println("SENT");
        System.out.flush();
        // The dead letters have a topic once there is one.
        Driver.findTopics(producer, "%DLQ%" + group);
        DefaultMQPushConsumer undertaker = consumer(group + "-dead", "%DLQ%" + group, this::bury);
        undertaker.start();
        Driver.await(arguments.number("seconds", 60),
            () -> delayed.size() == count && flaky.size() == count && dead.size() == count);
        producer.shutdown();
        consumer.shutdown();
        undertaker.shutdown();
        Driver.result(faults, "delayed", delayed.size(), "flaky", flaky.size(), "dead", dead.size(),
            "repeated", repeated.get());
    }

    private DefaultMQPushConsumer consumer(String group, String from, java.util.function.Predicate<MessageExt> take)
        throws Exception {
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer(group);
        consumer.setNamesrvAddr(arguments.text("namesrv"));
        consumer.setInstanceName(group);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.subscribe(from, "*");
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> take.test(messages.get(0))
            ? ConsumeConcurrentlyStatus.CONSUME_SUCCESS : ConsumeConcurrentlyStatus.RECONSUME_LATER);
        return consumer;
    }

    private void send(DefaultMQProducer producer, String key, int level) throws Exception {
        Message message = new Message(topic, "TagA", key, key.getBytes("UTF-8"));
        message.setDelayTimeLevel(level);
        sentMs.put(key, System.currentTimeMillis());
        if (producer.send(message).getSendStatus() != SendStatus.SEND_OK) {
            faults.add(key + " was not sent");
        }
    }

    private boolean consume(MessageExt message) {
        String key = message.getKeys();
        if (!topic.equals(message.getTopic())) {
            faults.add(key + " came with topic " + message.getTopic());
        }
        if (key.startsWith("delayed")) {
            long waited = System.currentTimeMillis() - sentMs.get(key);
            if (waited < 1000) {
                faults.add(key + " came after " + waited + " ms");
            }
            note(delayed, key);
            return true;
        }
        if (key.startsWith("poison") || message.getReconsumeTimes() < FLAKY_RETRIES) {
            return false;
        }
        note(flaky, key);
        return true;
    }

    private boolean bury(MessageExt message) {
        String key = message.getKeys();
        if (!key.startsWith("poison")) {
            faults.add(key + " is a dead letter");
        }
        if (message.getReconsumeTimes() != MAX_RECONSUME_TIMES + 1) {
            faults.add(key + " died after " + message.getReconsumeTimes() + " attempts");
        }
        if (!topic.equals(message.getProperty("RETRY_TOPIC"))) {
            faults.add(key + " died of topic " + message.getProperty("RETRY_TOPIC"));
        }
        note(dead, key);
        return true;
    }

    private void note(Set<String> keys, String key) {
        if (!keys.add(key)) {
            repeated.incrementAndGet();
        }
    }
}
