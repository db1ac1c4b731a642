package pocketmq;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.producer.LocalTransactionState;
import org.apache.rocketmq.client.producer.TransactionListener;
import org.apache.rocketmq.client.producer.TransactionMQProducer;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;

/** A quarter each: commit, rollback, commit when asked, rollback when asked. */
final class Transactions {
    private static final int COUNT = 80;
    private static final List<String> FAULTS = Collections.synchronizedList(new ArrayList<String>());

    private Transactions() {
    }

    static void run(Arguments arguments) throws Exception {
        String namesrv = arguments.text("namesrv");
        String topic = arguments.text("topic");
        Set<String> received = ConcurrentHashMap.newKeySet();
        Set<String> checked = ConcurrentHashMap.newKeySet();
        AtomicInteger deliveries = new AtomicInteger();
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer("transaction-consumers");
        consumer.setNamesrvAddr(namesrv);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.subscribe(topic, "TagA");
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            for (MessageExt message : messages) {
                deliveries.incrementAndGet();
                received.add(message.getKeys());
            }
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        TransactionMQProducer producer = new TransactionMQProducer("transaction-producers");
        producer.setNamesrvAddr(namesrv);
        producer.setInstanceName("producer");
        producer.setTransactionListener(new TransactionListener() {
            @Override
            public LocalTransactionState executeLocalTransaction(Message message, Object arg) {
                switch (kind(message)) {
                    case 0:
                        return LocalTransactionState.COMMIT_MESSAGE;
                    case 1:
                        return LocalTransactionState.ROLLBACK_MESSAGE;
                    default:
                        return LocalTransactionState.UNKNOW;
                }
            }

            @Override
            public LocalTransactionState checkLocalTransaction(MessageExt message) {
                checked.add(message.getKeys());
                if (!message.getTopic().equals(topic)) {
                    FAULTS.add("asked about a message of " + message.getTopic());
                }
                return kind(message) == 2 ? LocalTransactionState.COMMIT_MESSAGE
                    : LocalTransactionState.ROLLBACK_MESSAGE;
            }
        });
        producer.start();
        consumer.start();
        for (int i = 0; i < COUNT; i++) {
            producer.sendMessageInTransaction(new Message(topic, "TagA", "key" + i, new byte[] {1}), null);
        }
        Driver.await(40, () -> received.size() >= COUNT / 2 && checked.size() >= COUNT / 2);
        // Whoever was rolled back had time to come.
        Thread.sleep(1_500);
        producer.shutdown();
        consumer.shutdown();
        for (int i = 0; i < COUNT; i++) {
            String key = "key" + i;
            if (received.contains(key) != (i % 2 == 0)) {
                FAULTS.add(key + (i % 2 == 0 ? " is missing" : " was rolled back and came"));
            }
            if (checked.contains(key) != (i % 4 >= 2)) {
                FAULTS.add(key + (i % 4 >= 2 ? " was not asked about" : " had an end and was asked about"));
            }
        }
        Driver.result(FAULTS, "received", received.size(), "deliveries", deliveries.get(),
            "checked", checked.size());
    }

    private static int kind(Message message) {
        return Integer.parseInt(message.getKeys().substring(3)) % 4;
    }
}
