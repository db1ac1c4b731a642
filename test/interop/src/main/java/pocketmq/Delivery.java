package pocketmq;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeOrderlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerOrderly;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendCallback;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.client.producer.SendStatus;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;

/** Sends in all four ways and checks that a push consumer gets exactly that, in queue order. */
final class Delivery {
    private final String namesrv;
    private final String topic;
    private final int small;
    private final int large;
    private final Map<Integer, String> placeOfSent = new ConcurrentHashMap<>();
    private final Map<Integer, String> placeOfReceived = new ConcurrentHashMap<>();
    private final Map<Integer, Long> nextOffset = new ConcurrentHashMap<>();
    private final List<String> faults = Collections.synchronizedList(new ArrayList<String>());
    private final Set<Integer> sent = ConcurrentHashMap.newKeySet();
    private final CountDownLatch received;

    Delivery(Arguments arguments) {
        namesrv = arguments.text("namesrv");
        topic = arguments.text("topic");
        small = arguments.number("small", 9900);
        large = arguments.number("large", 100);
        received = new CountDownLatch(small + large);
    }

    void run() throws Exception {
        DefaultMQPushConsumer consumer = startConsumer();
        DefaultMQProducer producer = new DefaultMQProducer("delivery-producers");
        producer.setNamesrvAddr(namesrv);
        producer.setInstanceName("producer");
        producer.setCompressMsgBodyOverHowmuch(Integer.MAX_VALUE);
        producer.setSendMsgTimeout(20_000);
        producer.start();
        int batches = small / 5;
        int oneways = small / 10;
        int syncs = small / 5;
        sendBatches(producer, 0, batches);
        sendOneways(producer, batches, batches + oneways);
        sendSyncs(producer, batches + oneways, batches + oneways + syncs);
        sendAsyncs(producer, batches + oneways + syncs, small + large);
        boolean complete = received.await(90, TimeUnit.SECONDS);
        producer.shutdown();
        consumer.shutdown();
        if (!complete) {
            faults.add("only " + placeOfReceived.size() + " of " + (small + large) + " came");
        }
        for (Map.Entry<Integer, String> it : placeOfSent.entrySet()) {
            String place = placeOfReceived.get(it.getKey());
            if (!it.getValue().equals(place)) {
                faults.add("message " + it.getKey() + " was sent to " + it.getValue() + " and came from " + place);
            }
        }
        Driver.result(faults, "sent", sent.size(), "received", placeOfReceived.size(), "placed", placeOfSent.size());
    }

    private Message message(int number) {
        Message message = new Message(topic, "TagA", "key" + number,
            Bodies.bodyOf(number, Bodies.sizeOf(number, small, large)));
        message.putUserProperty("number", Integer.toString(number));
        sent.add(number);
        return message;
    }

    private void keep(int number, SendResult result) {
        if (result.getSendStatus() != SendStatus.SEND_OK) {
            faults.add("message " + number + " got " + result.getSendStatus());
        }
        placeOfSent.put(number, result.getMessageQueue().getQueueId() + "@" + result.getQueueOffset());
    }

    private void sendBatches(DefaultMQProducer producer, int from, int to) throws Exception {
        for (int number = from; number < to; number += 20) {
            List<Message> batch = new ArrayList<>();
            for (int i = number; i < Math.min(number + 20, to); i++) {
                batch.add(message(i));
            }
            SendResult result = producer.send(batch);
            if (result.getMsgId().split(",").length != batch.size()) {
                faults.add("a batch of " + batch.size() + " got ids " + result.getMsgId());
            }
            for (int i = 0; i < batch.size(); i++) {
                placeOfSent.put(number + i,
                    result.getMessageQueue().getQueueId() + "@" + (result.getQueueOffset() + i));
            }
        }
    }

    private void sendOneways(DefaultMQProducer producer, int from, int to) throws Exception {
        for (int number = from; number < to; number++) {
            producer.sendOneway(message(number));
        }
    }

    private void sendSyncs(DefaultMQProducer producer, int from, int to) throws Exception {
        for (int number = from; number < to; number++) {
            keep(number, producer.send(message(number)));
        }
    }

    private void sendAsyncs(DefaultMQProducer producer, int from, int to) throws Exception {
        final Semaphore inFlight = new Semaphore(16);
        for (int i = from; i < to; i++) {
            final int number = i;
            inFlight.acquire();
            producer.send(message(number), new SendCallback() {
                @Override
                public void onSuccess(SendResult result) {
                    inFlight.release();
                    keep(number, result);
                }

                @Override
                public void onException(Throwable e) {
                    inFlight.release();
                    faults.add("message " + number + " failed: " + e);
                }
            });
        }
        inFlight.acquire(16);
    }

    private DefaultMQPushConsumer startConsumer() throws Exception {
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer("delivery-consumers");
        consumer.setNamesrvAddr(namesrv);
        consumer.setInstanceName("consumer");
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.setPullThresholdSizeForQueue(16);
        consumer.subscribe(topic, "TagA || TagB");
        final AtomicInteger count = new AtomicInteger();
        consumer.registerMessageListener((MessageListenerOrderly) (messages, context) -> {
            for (MessageExt message : messages) {
                receive(message);
                count.incrementAndGet();
            }
            return ConsumeOrderlyStatus.SUCCESS;
        });
        consumer.start();
        return consumer;
    }

    private void receive(MessageExt message) {
        int number = Integer.parseInt(message.getUserProperty("number"));
        String place = message.getQueueId() + "@" + message.getQueueOffset();
        long expected = nextOffset.getOrDefault(message.getQueueId(), 0L);
        if (message.getQueueOffset() != expected) {
            faults.add("queue " + message.getQueueId() + " gave " + message.getQueueOffset() + " after " + expected);
        }
        nextOffset.put(message.getQueueId(), message.getQueueOffset() + 1);
        if (!Bodies.isBodyOf(number, Bodies.sizeOf(number, small, large), message.getBody())) {
            faults.add("message " + number + " has a wrong body");
        }
        if (placeOfReceived.put(number, place) != null) {
            faults.add("message " + number + " came twice");
        } else {
            received.countDown();
        }
    }
}
