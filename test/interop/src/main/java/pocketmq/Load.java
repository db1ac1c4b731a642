package pocketmq;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendCallback;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.client.producer.SendStatus;
import org.apache.rocketmq.common.message.Message;

/** Sends messages of mixed sizes, some in batches, some compressed, over several topics. */
final class Load {
    private static final int IN_FLIGHT = 32;
    private static final int BATCH = 8;

    private final List<String> faults = Collections.synchronizedList(new ArrayList<String>());
    private final AtomicInteger ok = new AtomicInteger();
    private final Semaphore inFlight = new Semaphore(IN_FLIGHT);
    private final String[] topics;
    private final DefaultMQProducer producer = new DefaultMQProducer("load-producers");

    private Load(Arguments arguments) {
        topics = arguments.text("topics").split(",");
        producer.setNamesrvAddr(arguments.text("namesrv"));
        producer.setSendMsgTimeout(20_000);
    }

    static void run(Arguments arguments) throws Exception {
        Load load = new Load(arguments);
        load.producer.start();
        Driver.findTopics(load.producer, load.topics);
        int from = arguments.number("from", 0);
        load.send(from, from + arguments.number("count", 1000));
        load.producer.shutdown();
        Driver.result(load.faults, "ok", load.ok.get());
    }

    private void send(int from, int to) throws Exception {
        int number = from;
        while (number < to) {
            int count = number % 40 == 0 ? Math.min(BATCH, to - number) : 1;
            inFlight.acquire();
            if (count == 1) {
                producer.send(message(number, topics[number % topics.length]), keep(number, 1));
            } else {
                batch(number, count);
            }
            number += count;
        }
        inFlight.acquire(IN_FLIGHT);
    }

    /** A batch is one topic's; the asynchronous way exists in 5.x only. */
    private void batch(int number, int count) throws Exception {
        List<Message> messages = new ArrayList<>();
        for (int i = number; i < number + count; i++) {
            messages.add(message(i, topics[0]));
        }
        keep(number, count).onSuccess(producer.send(messages));
    }

    private SendCallback keep(final int number, final int count) {
        return new SendCallback() {
            @Override
            public void onSuccess(SendResult result) {
                if (result.getSendStatus() == SendStatus.SEND_OK) {
                    ok.addAndGet(count);
                } else {
                    faults.add("message " + number + " got " + result.getSendStatus());
                }
                inFlight.release();
            }

            @Override
            public void onException(Throwable e) {
                faults.add("message " + number + " failed: " + e);
                inFlight.release();
            }
        };
    }

    /** 1 B to 2 KiB; each 50th up to 64 KiB (compressed by the client), each 500th 200 KiB of text. */
    private static Message message(int number, String topic) throws Exception {
        byte[] body = number % 500 == 250 ? text(number)
            : Bodies.bodyOf(number, number % 50 == 25 ? 1 + number * 31 % 65_536 : 1 + number * 7919 % 2_048);
        Message message = new Message(topic, number % 3 == 0 ? null : "Tag" + number % 5, "key" + number, body);
        message.putUserProperty("größe", Integer.toString(body.length));
        return message;
    }

    private static byte[] text(int number) throws Exception {
        StringBuilder text = new StringBuilder();
        while (text.length() < 200 * 1024) {
            text.append("line ").append(number).append('\n');
        }
        return text.toString().getBytes("UTF-8");
    }
}
