package pocketmq;

import java.util.List;
import java.util.function.BooleanSupplier;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.producer.DefaultMQProducer;

/** Entry of the interop drivers: the first argument names the scenario. */
public final class Driver {
    private Driver() {
    }

    public static void main(String[] args) {
        try {
            run(args);
        } catch (Exception e) {
            // The client's threads would keep the JVM.
            e.printStackTrace();
            System.exit(1);
        }
    }

    private static void run(String[] args) throws Exception {
        Arguments arguments = new Arguments(args);
        switch (args[0]) {
            case "delivery":
                new Delivery(arguments).run();
                break;
            case "broadcast":
                Broadcast.run(arguments);
                break;
            case "litepull":
                LitePull.run(arguments);
                break;
            case "member":
                Member.run(arguments);
                break;
            case "load":
                Load.run(arguments);
                break;
            case "specials":
                Specials.run(arguments);
                break;
            case "sqlfilter":
                SqlFilter.run(arguments);
                break;
            case "readstore":
                ReadStore.run(arguments);
                break;
            case "transactions":
                Transactions.run(arguments);
                break;
            case "retries":
                new Retries(arguments).run();
                break;
            case "packed":
                new Packed(arguments).run();
                break;
            case "traces":
                new Traces(arguments).run();
                break;
            case "requestreply":
                new RequestReply(arguments).run();
                break;
            case "send":
                Sender.run(arguments);
                break;
            case "acl":
                AccessControl.run(arguments);
                break;
            case "codec":
                Codec.run(arguments);
                break;
            default:
                throw new IllegalArgumentException("No scenario " + args[0]);
        }
    }

    /** Prints the result line as JSON and leaves; exit 1 with faults. */
    static void result(List<String> faults, Object... fields) {
        StringBuilder line = new StringBuilder("RESULT {");
        for (int i = 0; i < fields.length; i += 2) {
            line.append('"').append(fields[i]).append("\":").append(fields[i + 1]).append(',');
        }
        line.append("\"faults\":").append(faults.size()).append('}');
        for (String fault : faults.subList(0, Math.min(20, faults.size()))) {
            System.out.println("FAULT " + fault);
        }
        System.out.println(line);
        System.out.flush();
        System.exit(faults.isEmpty() ? 0 : 1);
    }

    static void await(int seconds, BooleanSupplier condition) throws InterruptedException {
        long deadline = System.currentTimeMillis() + seconds * 1000L;
        while (!condition.getAsBoolean() && System.currentTimeMillis() < deadline) {
            Thread.sleep(20);
        }
    }

    /** Waits for routes: a name server's first answer may come late on a loaded machine. */
    static void findTopics(DefaultMQProducer producer, String... topics) throws InterruptedException {
        for (String topic : topics) {
            await(30, () -> isFound(producer, topic));
        }
    }

    private static boolean isFound(DefaultMQProducer producer, String topic) {
        try {
            return !producer.fetchPublishMessageQueues(topic).isEmpty();
        } catch (MQClientException | IllegalStateException e) {
            return false;
        }
    }
}
