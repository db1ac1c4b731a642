package pocketmq;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.exception.RequestTimeoutException;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.RequestCallback;
import org.apache.rocketmq.client.utils.MessageUtil;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;

/** Requests, in both ways, that a consumer answers; one that nobody answers; one whose sender has gone. */
final class RequestReply {
    private static final int COUNT = 20;
    private static final int TTL_MS = 20_000;
    private static final int LARGE = 200_000;
    private final Arguments arguments;
    private final String topic;
    private final List<String> faults = Collections.synchronizedList(new ArrayList<String>());
    private final AtomicInteger replied = new AtomicInteger();
    private final AtomicInteger refused = new AtomicInteger();
    private final CountDownLatch gone = new CountDownLatch(1);
    private final CountDownLatch answered = new CountDownLatch(1);
    private DefaultMQProducer replier;

    RequestReply(Arguments arguments) {
        this.arguments = arguments;
        topic = arguments.text("topic");
    }

    void run() throws Exception {
        replier = producer("repliers");
        DefaultMQProducer requester = producer("requesters");
        Driver.findTopics(requester, topic);
        DefaultMQPushConsumer consumer = consumer();
        int sync = 0;
        for (int i = 0; i < COUNT; i++) {
            Message request = new Message(topic, "Ask", "sync" + i, bodyOf(i));
            sync += isReply(requester.request(request, TTL_MS), i) ? 1 : 0;
        }
        int async = asyncs(requester);
        int timeouts = unanswered(requester);
        goneRequester();
        requester.shutdown();
        consumer.shutdown();
        replier.shutdown();
        Driver.result(faults, "sync", sync, "async", async, "timeouts", timeouts, "replied", replied.get(),
            "refused", refused.get());
    }

    private DefaultMQProducer producer(String group) throws Exception {
        DefaultMQProducer producer = new DefaultMQProducer(group);
        producer.setNamesrvAddr(arguments.text("namesrv"));
        producer.setInstanceName(group);
        producer.setSendMsgTimeout(20_000);
        producer.setRetryTimesWhenSendFailed(0);
        producer.start();
        return producer;
    }

    private DefaultMQPushConsumer consumer() throws Exception {
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer("reply-consumers");
        consumer.setNamesrvAddr(arguments.text("namesrv"));
        consumer.setInstanceName("reply-consumers");
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.subscribe(topic, "*");
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            for (MessageExt message : messages) {
                answer(message);
            }
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        consumer.start();
        return consumer;
    }

    private void answer(MessageExt request) {
        try {
            if ("Silence".equals(request.getTags())) {
                return;
            }
            if ("Gone".equals(request.getTags())) {
                gone.await();
            }
            Message reply = MessageUtil.createReplyMessage(request, reply(request.getBody()));
            replier.send(reply, 20_000);
            replied.incrementAndGet();
        } catch (MQClientException e) {
            refused.incrementAndGet();
            String cause = String.valueOf(e.getCause());
            if (e.getResponseCode() != 1 || !cause.contains("channel of <")) {
                faults.add("the reply to " + request.getKeys() + " was refused with " + e + " for " + cause);
            }
        } catch (Exception e) {
            faults.add("the reply to " + request.getKeys() + " failed: " + e);
        } finally {
            if ("Gone".equals(request.getTags())) {
                answered.countDown();
            }
        }
    }

    private int asyncs(DefaultMQProducer requester) throws Exception {
        AtomicInteger good = new AtomicInteger();
        CountDownLatch done = new CountDownLatch(COUNT);
        for (int i = 0; i < COUNT; i++) {
            final int number = i;
            requester.request(new Message(topic, "Ask", "async" + i, bodyOf(i)), new RequestCallback() {
                @Override
                public void onSuccess(Message reply) {
                    // 4.9.8 also calls it when the request was sent.
                    if (reply != null) {
                        good.addAndGet(isReply(reply, number) ? 1 : 0);
                        done.countDown();
                    }
                }

                @Override
                public void onException(Throwable e) {
                    faults.add("async" + number + " failed: " + e);
                    done.countDown();
                }
            }, TTL_MS);
        }
        done.await(60, TimeUnit.SECONDS);
        return good.get();
    }

    private int unanswered(DefaultMQProducer requester) throws Exception {
        try {
            requester.request(new Message(topic, "Silence", "silence", bodyOf(0)), 1_000);
            faults.add("a request that nobody answers was answered");
            return 0;
        } catch (RequestTimeoutException e) {
            return 1;
        }
    }

    /** The consumer replies once the client that asks is no longer connected. */
    private void goneRequester() throws Exception {
        DefaultMQProducer guest = producer("guests");
        Driver.findTopics(guest, topic);
        guest.request(new Message(topic, "Gone", "gone", bodyOf(0)), new RequestCallback() {
            @Override
            public void onSuccess(Message reply) {
                if (reply != null) {
                    faults.add("the client that has gone got a reply");
                }
            }

            @Override
            public void onException(Throwable e) {
                // It has gone.
            }
        }, TTL_MS);
        guest.shutdown();
        gone.countDown();
        if (!answered.await(60, TimeUnit.SECONDS)) {
            faults.add("nobody tried to answer the client that has gone");
        }
    }

    /** Every fourth one is large enough to be compressed. */
    private static byte[] bodyOf(int number) {
        byte[] body = new byte[number % 4 == 0 ? LARGE : 10];
        body[0] = (byte) number;
        return body;
    }

    private static byte[] reply(byte[] request) {
        byte[] body = request.clone();
        body[1] = 1;
        return body;
    }

    private boolean isReply(Message reply, int number) {
        boolean isGood = java.util.Arrays.equals(reply.getBody(), reply(bodyOf(number)));
        if (!isGood) {
            faults.add("the reply to " + number + " has another body");
        }
        return isGood;
    }
}
