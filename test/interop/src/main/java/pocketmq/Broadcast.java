package pocketmq;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;

/** Two broadcasting consumers with a tag filter: each gets every matching message. */
final class Broadcast {
    private Broadcast() {
    }

    static void run(Arguments arguments) throws Exception {
        String namesrv = arguments.text("namesrv");
        String topic = arguments.text("topic");
        List<String> faults = Collections.synchronizedList(new ArrayList<String>());
        List<Set<String>> received = Arrays.asList(ConcurrentHashMap.newKeySet(), ConcurrentHashMap.newKeySet());
        AtomicInteger deliveries = new AtomicInteger();
        List<DefaultMQPushConsumer> consumers = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            final Set<String> mine = received.get(i);
            DefaultMQPushConsumer consumer = new DefaultMQPushConsumer("broadcast-consumers");
            consumer.setNamesrvAddr(namesrv);
            consumer.setInstanceName("broadcast" + i);
            Versions.setBroadcasting(consumer);
            consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
            consumer.subscribe(topic, "TagA || TagC");
            consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
                for (MessageExt message : messages) {
                    deliveries.incrementAndGet();
                    if ("TagB".equals(message.getTags())) {
                        faults.add("a message with TagB came");
                    }
                    if (!mine.add(message.getKeys())) {
                        faults.add(message.getKeys() + " came twice to one consumer");
                    }
                }
                return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
            });
            consumer.start();
            consumers.add(consumer);
        }
        DefaultMQProducer producer = new DefaultMQProducer("broadcast-producers");
        producer.setNamesrvAddr(namesrv);
        producer.setInstanceName("producer");
        producer.start();
        for (int i = 0; i < 300; i++) {
            producer.send(new Message(topic, "Tag" + "ABC".charAt(i % 3), "key" + i, new byte[] {1}));
        }
        Driver.await(30, () -> received.get(0).size() >= 200 && received.get(1).size() >= 200);
        Thread.sleep(500);
        producer.shutdown();
        for (DefaultMQPushConsumer consumer : consumers) {
            consumer.shutdown();
        }
        Driver.result(faults, "first", received.get(0).size(), "second", received.get(1).size(),
            "deliveries", deliveries.get());
    }
}
