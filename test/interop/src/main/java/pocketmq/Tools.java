package pocketmq;

import java.lang.reflect.Method;
import java.util.Arrays;

/**
 * Runs several mqadmin commands in one JVM; arguments: commands, each behind a "--". Those that
 * begin with "@" are for the clients that live between commands.
 */
public final class Tools {
    /** Printed before each command's output. */
    static final String MARK = "==== mqadmin ";

    private Tools() {
    }

    public static void main(String[] args) {
        System.setErr(System.out);
        try {
            run(args);
        } catch (Exception e) {
            // The clients' threads would keep the JVM.
            e.printStackTrace();
            System.exit(1);
        }
        System.out.flush();
        System.exit(0);
    }

    private static void run(String[] args) throws Exception {
        // A client takes a queue up again with its next rebalance, 20 s later else.
        System.setProperty("rocketmq.client.rebalance.waitInterval", "1000");
        // By reflection: the drivers are compiled against the client alone.
        Method main0 = Arrays.stream(Class.forName("org.apache.rocketmq.tools.command.MQAdminStartup").getMethods())
            .filter(it -> it.getName().equals("main0"))
            .findFirst()
            .get();
        ToolEnds.hurry(Thread.currentThread());
        ToolClients clients = new ToolClients();
        int from = 0;
        while (from < args.length) {
            int to = from + 1;
            while (to < args.length && !args[to].equals("--")) {
                to++;
            }
            String[] command = Arrays.stream(args, from + 1, to).map(clients::resolve).toArray(String[]::new);
            System.out.println("\n" + MARK + command[0] + " " + System.currentTimeMillis());
            if (command[0].startsWith("@")) {
                clients.run(command);
            } else {
                main0.invoke(null, command, null);
            }
            from = to;
        }
    }
}
