package pocketmq;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.MessageExt;

/**
 * One long-lived member of a group: prints a line for each message, leaves when its input ends.
 * With pop=MS it is assigned queues by the broker, and pops where that says so. With hold=N it consumes N messages and waits with the next until its input has a line.
 */
final class Member {
    private static final int STARTS_MAX = 5;
    private static final CountDownLatch GO_ON = new CountDownLatch(1);
    private static final AtomicInteger TAKEN = new AtomicInteger();

    private Member() {
    }

    static void run(Arguments arguments) throws Exception {
        DefaultMQPushConsumer consumer = started(arguments);
        System.out.println("STARTED");
        System.out.flush();
        CountDownLatch end = new CountDownLatch(1);
        Thread watch = new Thread(() -> {
            try {
                while (System.in.read() >= 0) {
                    GO_ON.countDown();
                }
            } catch (java.io.IOException e) {
                System.err.println(e);
            }
            end.countDown();
        });
        watch.setDaemon(true);
        watch.start();
        end.await();
        consumer.shutdown();
        System.out.println("STOPPED");
        System.out.flush();
        System.exit(0);
    }

    /** A start fails when a name server's answer takes more than 3 s: then it is tried again. */
    private static DefaultMQPushConsumer started(Arguments arguments) throws Exception {
        for (int attempt = 1;; attempt++) {
            DefaultMQPushConsumer consumer = consumer(arguments);
            try {
                consumer.start();
                return consumer;
            } catch (MQClientException | IllegalStateException e) {
                consumer.shutdown();
                if (attempt == STARTS_MAX) {
                    throw e;
                }
            }
        }
    }

    private static DefaultMQPushConsumer consumer(Arguments arguments)
            throws MQClientException, ReflectiveOperationException {
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer(arguments.text("group"));
        consumer.setNamesrvAddr(arguments.text("namesrv"));
        consumer.setInstanceName(arguments.text("instance"));
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        for (String topic : arguments.text("topic").split(",")) {
            consumer.subscribe(topic, arguments.text("tags", "*"));
        }
        // The client's own default.
        consumer.setPullThresholdForQueue(arguments.number("cache", 1000));
        if (arguments.number("pop", 0) > 0) {
            // Methods of 5.x; the invisible time of what it pops is so many milliseconds.
            call(consumer, "setClientRebalance", boolean.class, false);
            call(consumer, "setPopInvisibleTime", long.class, (long) arguments.number("pop", 0));
        }
        int hold = arguments.number("hold", Integer.MAX_VALUE);
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            if (TAKEN.addAndGet(messages.size()) > hold) {
                waitToGoOn();
            }
            print(messages);
            return isToFail(messages.get(0), arguments.text("fails", null))
                ? ConsumeConcurrentlyStatus.RECONSUME_LATER
                : ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        return consumer;
    }

    private static void call(DefaultMQPushConsumer consumer, String method, Class<?> type, Object value)
            throws ReflectiveOperationException {
        DefaultMQPushConsumer.class.getMethod(method, type).invoke(consumer, value);
    }

    private static void print(List<MessageExt> messages) {
        StringBuilder lines = new StringBuilder();
        for (MessageExt message : messages) {
            lines.append("MSG ").append(message.getQueueId()).append(' ')
                .append(message.getQueueOffset()).append(' ').append(message.getKeys()).append('\n');
        }
        synchronized (System.out) {
            System.out.print(lines);
            System.out.flush();
        }
    }

    /** With fails=KEY the message with that key is not consumed the first time. */
    private static boolean isToFail(MessageExt message, String key) {
        return message.getReconsumeTimes() == 0 && key != null && key.equals(message.getKeys());
    }

    private static void waitToGoOn() {
        try {
            GO_ON.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
