package pocketmq;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;

/** A producer and a consumer that trace what they do, into the usual topic and into one of their own. */
final class Traces {
    private static final int COUNT = 10;
    private final Arguments arguments;
    private final String topic;
    private final List<String> faults = Collections.synchronizedList(new ArrayList<String>());

    Traces(Arguments arguments) {
        this.arguments = arguments;
        topic = arguments.text("topic");
    }

    void run() throws Exception {
        int usual = trace("usual", null);
        int own = trace("own", "OwnTraces");
        Driver.result(faults, "usual", usual, "own", own);
    }

    private int trace(String name, String traceTopic) throws Exception {
        DefaultMQProducer producer = new DefaultMQProducer(name + "-producers", true, traceTopic);
        producer.setNamesrvAddr(arguments.text("namesrv"));
        producer.setInstanceName(name + "-producer");
        producer.setSendMsgTimeout(20_000);
        producer.start();
        Driver.findTopics(producer, topic);
        Set<String> received = ConcurrentHashMap.newKeySet();
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer(name + "-consumers", true, traceTopic);
        consumer.setNamesrvAddr(arguments.text("namesrv"));
        consumer.setInstanceName(name + "-consumer");
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.subscribe(topic, name);
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            for (MessageExt message : messages) {
                received.add(message.getKeys());
            }
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        consumer.start();
        final long beginMs = System.currentTimeMillis();
        String first = null;
        for (int i = 0; i < COUNT; i++) {
            String key = name + i;
            String id = producer.send(new Message(topic, name, key, key.getBytes("UTF-8"))).getMsgId();
            if (i == 0) {
                first = id;
                System.out.println("ID " + name + " " + id);
            }
        }
        Driver.await(60, () -> received.size() == COUNT);
        // They write down a moment later what they trace, and not when they end.
        String of = traceTopic == null ? "RMQ_SYS_TRACE_TOPIC" : traceTopic;
        final String id = first;
        Driver.await(60, () -> isTraced(producer, of, id, beginMs));
        consumer.shutdown();
        producer.shutdown();
        return received.size();
    }

    /** True once sending and consuming of a message are in the trace topic. */
    private static boolean isTraced(DefaultMQProducer producer, String traceTopic, String id, long beginMs) {
        StringBuilder traces = new StringBuilder();
        try {
            long endMs = System.currentTimeMillis() + 1_000;
            for (MessageExt it : producer.queryMessage(traceTopic, id, 32, beginMs, endMs).getMessageList()) {
                traces.append(new String(it.getBody()));
            }
        } catch (MQClientException | InterruptedException e) {
            return false;
        }
        return traces.indexOf("Pub") >= 0 && traces.indexOf("SubAfter") >= 0;
    }
}
