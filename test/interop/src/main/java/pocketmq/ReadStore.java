package pocketmq;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;
import org.apache.rocketmq.client.QueryResult;
import org.apache.rocketmq.client.consumer.DefaultMQPullConsumer;
import org.apache.rocketmq.client.consumer.PullResult;
import org.apache.rocketmq.client.consumer.PullStatus;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * Prints all that a broker holds of some topics: each queue with its range and where a group
 * stands, each message, and what the look-ups of a file find: lines of a topic and a key or an id.
 */
final class ReadStore {
    private static int messages;

    private ReadStore() {
    }

    static void run(Arguments arguments) throws Exception {
        DefaultMQPullConsumer consumer = new DefaultMQPullConsumer(arguments.text("group"));
        consumer.setNamesrvAddr(arguments.text("namesrv"));
        consumer.start();
        for (String topic : arguments.text("topics").split(",")) {
            for (MessageQueue queue : consumer.fetchSubscribeMessageQueues(topic)) {
                read(consumer, queue);
            }
        }
        for (String line : lines(arguments.text("lookups"))) {
            String[] words = line.split(" ");
            lookUp(consumer, words[0], words[1], words[2]);
        }
        consumer.shutdown();
        Driver.result(new ArrayList<String>(), "messages", messages);
    }

    private static List<String> lines(String file) throws IOException {
        return Files.readAllLines(Paths.get(file));
    }

    private static void read(DefaultMQPullConsumer consumer, MessageQueue queue) throws Exception {
        long end = consumer.maxOffset(queue);
        long offset = consumer.minOffset(queue);
        System.out.println(String.join("\t", "QUEUE", queue.getTopic(), Integer.toString(queue.getQueueId()),
            Long.toString(offset), Long.toString(end), Long.toString(consumer.fetchConsumeOffset(queue, true))));
        while (offset < end) {
            PullResult result = consumer.pull(queue, "*", offset, 32);
            if (result.getPullStatus() == PullStatus.FOUND) {
                for (MessageExt message : result.getMsgFoundList()) {
                    print("MSG", message);
                    messages++;
                }
            }
            offset = Math.max(offset + 1, result.getNextBeginOffset());
        }
    }

    private static void lookUp(DefaultMQPullConsumer consumer, String kind, String topic, String word)
        throws Exception {
        if (kind.equals("id")) {
            print("ID", consumer.viewMessage(topic, word));
            return;
        }
        QueryResult result = consumer.queryMessage(topic, word, 32, 0, System.currentTimeMillis() + 60_000);
        for (MessageExt message : result.getMessageList()) {
            print("KEY", message);
        }
    }

    private static void print(String what, MessageExt message) throws Exception {
        System.out.println(String.join("\t", what, message.getTopic(), Integer.toString(message.getQueueId()),
            Long.toString(message.getQueueOffset()), Long.toString(message.getCommitLogOffset()),
            digest(message.getBody()), String.valueOf(message.getTags()), String.valueOf(message.getKeys())));
    }

    private static String digest(byte[] body) throws Exception {
        StringBuilder text = new StringBuilder();
        for (byte it : MessageDigest.getInstance("SHA-256").digest(body)) {
            text.append(String.format("%02x", it));
        }
        return text.toString();
    }
}
