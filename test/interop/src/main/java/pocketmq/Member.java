package pocketmq;

import java.util.concurrent.CountDownLatch;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.MessageExt;

/** One long-lived member of a group: prints a line for each message, leaves when its input ends. */
final class Member {
    private Member() {
    }

    static void run(Arguments arguments) throws Exception {
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer(arguments.text("group"));
        consumer.setNamesrvAddr(arguments.text("namesrv"));
        consumer.setInstanceName(arguments.text("instance"));
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.subscribe(arguments.text("topic"), arguments.text("tags", "*"));
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            StringBuilder lines = new StringBuilder();
            for (MessageExt message : messages) {
                lines.append("MSG ").append(message.getQueueId()).append(' ')
                    .append(message.getQueueOffset()).append(' ').append(message.getKeys()).append('\n');
            }
            synchronized (System.out) {
                System.out.print(lines);
                System.out.flush();
            }
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        consumer.start();
        System.out.println("STARTED");
        System.out.flush();
        CountDownLatch end = new CountDownLatch(1);
        Thread watch = new Thread(() -> {
            try {
                while (System.in.read() >= 0) {
                    continue;
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
}
