package pocketmq;

import java.util.ArrayList;
import java.util.List;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendStatus;
import org.apache.rocketmq.common.message.Message;

/** Sends numbered messages one after the other. */
final class Sender {
    private Sender() {
    }

    static void run(Arguments arguments) throws Exception {
        DefaultMQProducer producer = new DefaultMQProducer("sender");
        producer.setNamesrvAddr(arguments.text("namesrv"));
        producer.start();
        Driver.findTopics(producer, arguments.text("topic"));
        List<String> faults = new ArrayList<>();
        int from = arguments.number("from", 0);
        int count = arguments.number("count", 100);
        int ok = 0;
        for (int i = from; i < from + count; i++) {
            Message message = new Message(arguments.text("topic"), "TagA", "key" + i, ("body" + i).getBytes("UTF-8"));
            if (producer.send(message).getSendStatus() == SendStatus.SEND_OK) {
                ok++;
            }
        }
        producer.shutdown();
        Driver.result(faults, "ok", ok);
    }
}
