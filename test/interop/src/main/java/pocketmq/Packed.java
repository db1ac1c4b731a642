package pocketmq;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendCallback;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;

/** Bodies that the client compresses, in each way it knows, and messages that it gathers into batches by itself. */
final class Packed {
    private static final int GATHERED = 200;
    private static final int LARGE = 30_000;
    private final Arguments arguments;
    private final String topic;
    private final List<String> faults = Collections.synchronizedList(new ArrayList<String>());
    private final Map<String, String> places = new ConcurrentHashMap<>();
    private final Map<String, String> received = new ConcurrentHashMap<>();

    Packed(Arguments arguments) {
        this.arguments = arguments;
        topic = arguments.text("topic");
    }

    void run() throws Exception {
        DefaultMQProducer producer = producer("packers");
        Driver.findTopics(producer, topic);
        int packed = 0;
        for (String type : setter("setCompressType") == null ? new String[] {"ZLIB"} : new String[] {"ZLIB", "LZ4", "ZSTD"}) {
            setCompressType(producer, type);
            SendResult sent = producer.send(new Message(topic, "Packed", "packed-" + type, large(type)));
            place("packed-" + type, sent);
            packed++;
        }
        producer.shutdown();
        int gathered = gather();
        DefaultMQPushConsumer consumer = consumer();
        final int all = packed + gathered;
        Driver.await(60, () -> received.size() >= all);
        consumer.shutdown();
        if (!received.equals(places)) {
            faults.add("sent to " + places + " and received from " + received);
        }
        Driver.result(faults, "packed", packed, "gathered", gathered, "received", received.size());
    }

    /** 4.9 has no such producer. */
    private int gather() throws Exception {
        Method autoBatch = setter("setAutoBatch");
        if (autoBatch == null) {
            return 0;
        }
        DefaultMQProducer producer = producer("gatherers");
        autoBatch.invoke(producer, true);
        CountDownLatch done = new CountDownLatch(GATHERED);
        for (int i = 0; i < GATHERED; i++) {
            final String key = "gathered-" + i;
            producer.send(new Message(topic, "Gathered", key, key.getBytes("UTF-8")), new SendCallback() {
                @Override
                public void onSuccess(SendResult result) {
                    place(key, result);
                    done.countDown();
                }

                @Override
                public void onException(Throwable e) {
                    faults.add(key + " failed: " + e);
                    done.countDown();
                }
            });
        }
        if (!done.await(60, TimeUnit.SECONDS)) {
            faults.add("gathered messages were not answered");
        }
        producer.shutdown();
        return GATHERED;
    }

    private void place(String key, SendResult result) {
        places.put(key, result.getMessageQueue().getQueueId() + "@" + result.getQueueOffset());
    }

    private DefaultMQProducer producer(String group) throws Exception {
        DefaultMQProducer producer = new DefaultMQProducer(group);
        producer.setNamesrvAddr(arguments.text("namesrv"));
        producer.setInstanceName(group);
        producer.setSendMsgTimeout(20_000);
        producer.start();
        return producer;
    }

    private DefaultMQPushConsumer consumer() throws Exception {
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer("unpackers");
        consumer.setNamesrvAddr(arguments.text("namesrv"));
        consumer.setInstanceName("unpackers");
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.subscribe(topic, "*");
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            for (MessageExt message : messages) {
                String key = message.getKeys();
                byte[] body = key.startsWith("packed-") ? large(key.substring(7)) : key.getBytes();
                if (!Arrays.equals(body, message.getBody())) {
                    faults.add(key + " came with another body");
                }
                String place = message.getQueueId() + "@" + message.getQueueOffset();
                if (received.put(key, place) != null) {
                    faults.add(key + " came twice");
                }
            }
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        consumer.start();
        return consumer;
    }

    private static byte[] large(String type) {
        StringBuilder text = new StringBuilder();
        while (text.length() < LARGE) {
            text.append("packed with ").append(type).append(' ').append(text.length()).append('\n');
        }
        return text.toString().getBytes();
    }

    private static Method setter(String name) {
        for (Method method : DefaultMQProducer.class.getMethods()) {
            if (method.getName().equals(name)) {
                return method;
            }
        }
        return null;
    }

    private static void setCompressType(DefaultMQProducer producer, String type) throws Exception {
        Method method = setter("setCompressType");
        if (method == null) {
            return;
        }
        for (Object constant : method.getParameterTypes()[0].getEnumConstants()) {
            if (constant.toString().equals(type)) {
                method.invoke(producer, constant);
            }
        }
    }
}
