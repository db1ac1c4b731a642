package pocketmq;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.consumer.store.OffsetStore;
import org.apache.rocketmq.client.consumer.store.ReadOffsetType;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageQueue;

/** A producer and a consumer that live between mqadmin commands, so that these have something to show. */
final class ToolClients {
    private static final int CONSUME_SECONDS_MAX = 60;
    /** What sends returned: $uniq0, $offset0, … in later commands. */
    private final Map<String, String> values = new HashMap<>();
    private DefaultMQProducer producer;
    /** By the name that commands give them; the first one has none. */
    private final Map<String, DefaultMQPushConsumer> consumers = new HashMap<>();
    private final Map<String, AtomicLong> consumed = new ConcurrentHashMap<>();

    /** Runs @produce, @consume, @consumed, @commit, @call, @monitor, @show, @leave or @close. */
    void run(String[] command) throws Exception {
        Arguments arguments = new Arguments(command);
        switch (command[0]) {
            case "@produce":
                produce(arguments);
                break;
            case "@consume":
                consume(arguments);
                break;
            case "@consumed":
                consumed(arguments);
                break;
            case "@commit":
                commit(arguments);
                break;
            case "@call":
                AdminCall.run(arguments);
                break;
            case "@monitor":
                Monitor.run(arguments.text("namesrv"));
                break;
            case "@show":
                System.out.println(new String(Files.readAllBytes(Paths.get(arguments.text("file"))), StandardCharsets.UTF_8));
                break;
            case "@leave":
                consumers.get(nameOf(arguments)).shutdown();
                break;
            case "@close":
                producer.shutdown();
                break;
            default:
                throw new IllegalArgumentException("No command " + command[0]);
        }
    }

    /** The argument, or what a send returned under that name. */
    String resolve(String argument) {
        return values.getOrDefault(argument, argument);
    }

    private void produce(Arguments arguments) throws Exception {
        producer = new DefaultMQProducer(arguments.text("group"));
        producer.setNamesrvAddr(arguments.text("namesrv"));
        producer.setClientIP("127.0.0.1");
        producer.setInstanceName("tool-producer");
        producer.start();
        int queues = arguments.number("queues", 1);
        String topic = arguments.text("topic");
        for (int i = 0; i < arguments.number("count", 1); i++) {
            byte[] body = ("body " + i).getBytes(StandardCharsets.UTF_8);
            Message message = new Message(topic, i % 2 == 0 ? "TagA" : "TagB", "key" + i, body);
            MessageQueue queue = new MessageQueue(topic, arguments.text("broker"), i % queues);
            SendResult sent = producer.send(message, queue, 10_000);
            values.put("$uniq" + i, sent.getMsgId());
            values.put("$offset" + i, sent.getOffsetMsgId());
            System.out.printf("%s %d %d%n", sent.getSendStatus(), i % queues, sent.getQueueOffset());
        }
        // The first one by itself may come before the producer knows the broker, the next after 30 s.
        producer.getDefaultMQProducerImpl().getMqClientFactory().sendHeartbeatToAllBrokerWithLock();
    }

    /** Joins the group and stays; returns when COUNT messages came. */
    private void consume(Arguments arguments) throws Exception {
        String name = nameOf(arguments);
        AtomicLong count = new AtomicLong();
        consumed.put(name, count);
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer(arguments.text("group"));
        consumers.put(name, consumer);
        consumer.setNamesrvAddr(arguments.text("namesrv"));
        consumer.setClientIP("127.0.0.1");
        consumer.setInstanceName("tool-consumer" + name);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.subscribe(arguments.text("topic"), "*");
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            count.addAndGet(messages.size());
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        consumer.start();
        consumed(arguments);
    }

    /** Returns when the consumer had COUNT messages in all, counting those twice that came again. */
    private void consumed(Arguments arguments) throws Exception {
        AtomicLong count = consumed.get(nameOf(arguments));
        long wanted = arguments.number("count", 1);
        Driver.await(CONSUME_SECONDS_MAX, () -> count.get() >= wanted);
        System.out.println("all came");
    }

    private static String nameOf(Arguments arguments) {
        return arguments.text("name", "");
    }

    /**
     * Returns when the broker knows that the group has consumed COUNT messages of TOPIC, and stands
     * at 0 in its empty retry queue: by itself the client commits that after its first held pull.
     */
    private void commit(Arguments arguments) throws Exception {
        DefaultMQPushConsumer consumer = consumers.get(nameOf(arguments));
        OffsetStore offsets = consumer.getDefaultMQPushConsumerImpl().getOffsetStore();
        long count = arguments.number("count", 1);
        String topic = arguments.text("topic");
        Driver.await(CONSUME_SECONDS_MAX, () -> offsets.cloneOffsetTable(topic).values().stream()
            .mapToLong(Long::longValue).sum() == count);
        MessageQueue retries = retryQueue(consumer);
        offsets.updateOffset(retries, 0, false);
        consumer.getDefaultMQPushConsumerImpl().persistConsumerOffset();
        Driver.await(CONSUME_SECONDS_MAX, () -> offsets.cloneOffsetTable(topic).keySet().stream()
            .mapToLong(it -> offsets.readOffset(it, ReadOffsetType.READ_FROM_STORE)).sum() == count);
        Driver.await(CONSUME_SECONDS_MAX, () -> offsets.readOffset(retries, ReadOffsetType.READ_FROM_STORE) == 0);
    }

    /** The group's only one, once the client has it. */
    private static MessageQueue retryQueue(DefaultMQPushConsumer consumer) throws Exception {
        String topic = "%RETRY%" + consumer.getConsumerGroup();
        Map<MessageQueue, ?> queues = consumer.getDefaultMQPushConsumerImpl().getRebalanceImpl().getProcessQueueTable();
        Driver.await(CONSUME_SECONDS_MAX, () -> queues.keySet().stream().anyMatch(it -> it.getTopic().equals(topic)));
        return queues.keySet().stream().filter(it -> it.getTopic().equals(topic)).findFirst().get();
    }
}
