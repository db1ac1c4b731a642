package pocketmq;

import java.util.ArrayList;
import java.util.List;
import org.apache.rocketmq.client.producer.LocalTransactionState;
import org.apache.rocketmq.client.producer.SendStatus;
import org.apache.rocketmq.client.producer.TransactionListener;
import org.apache.rocketmq.client.producer.TransactionMQProducer;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageAccessor;
import org.apache.rocketmq.common.message.MessageExt;

/** Sends what a master rewrites: delayed messages, committed and rolled back transactions, timers. */
final class Specials {
    private Specials() {
    }

    static void run(Arguments arguments) throws Exception {
        TransactionMQProducer producer = new TransactionMQProducer("special-producers");
        producer.setNamesrvAddr(arguments.text("namesrv"));
        producer.setSendMsgTimeout(20_000);
        producer.setTransactionListener(new TransactionListener() {
            @Override
            public LocalTransactionState executeLocalTransaction(Message message, Object argument) {
                return (Integer) argument % 2 == 0 ? LocalTransactionState.COMMIT_MESSAGE
                    : LocalTransactionState.ROLLBACK_MESSAGE;
            }

            @Override
            public LocalTransactionState checkLocalTransaction(MessageExt message) {
                return LocalTransactionState.UNKNOW;
            }
        });
        producer.start();
        Driver.findTopics(producer, arguments.text("topic"));
        List<String> faults = new ArrayList<>();
        int ok = 0;
        int count = arguments.number("count", 20);
        for (int i = 0; i < count; i++) {
            Message delayed = message(arguments, i);
            delayed.setDelayTimeLevel(1 + i % 2);
            SendStatus first = producer.send(delayed).getSendStatus();
            SendStatus second = producer.sendMessageInTransaction(message(arguments, i), i).getSendStatus();
            ok += (first == SendStatus.SEND_OK ? 1 : 0) + (second == SendStatus.SEND_OK ? 1 : 0);
        }
        if (arguments.number("timers", 0) == 1) {
            for (int i = 0; i < count; i++) {
                Message timed = message(arguments, i);
                // The setter is of 5.x alone.
                MessageAccessor.putProperty(timed, "TIMER_DELAY_MS", Integer.toString(1000 + 100 * i));
                ok += producer.send(timed).getSendStatus() == SendStatus.SEND_OK ? 1 : 0;
            }
        }
        producer.shutdown();
        Driver.result(faults, "ok", ok);
    }

    private static Message message(Arguments arguments, int number) throws Exception {
        return new Message(arguments.text("topic"), "Special", "special" + number, ("body" + number).getBytes("UTF-8"));
    }
}
