package pocketmq;

import java.lang.reflect.Field;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.TreeSet;

/** One round of startMonitoring, which else never ends; by reflection, as the drivers are compiled against the client alone. */
final class Monitor {
    private static final String PACKAGE = "org.apache.rocketmq.tools.monitor.";

    private Monitor() {
    }

    /** Prints what the round reports, sorted: of groups in their order only Java's hash maps know. */
    static void run(String namesrv) throws Exception {
        Class<?> configType = Class.forName(PACKAGE + "MonitorConfig");
        Object config = configType.getConstructor().newInstance();
        configType.getMethod("setNamesrvAddr", String.class).invoke(config, namesrv);
        TreeSet<String> reports = new TreeSet<>();
        Class<?> listenerType = Class.forName(PACKAGE + "MonitorListener");
        Object listener = Proxy.newProxyInstance(Monitor.class.getClassLoader(), new Class<?>[] {listenerType},
            (proxy, method, values) -> {
                if (values != null) {
                    reports.add(method.getName() + " " + summary(values[0]));
                }
                return null;
            });
        Class<?> type = Class.forName(PACKAGE + "MonitorService");
        Object monitor = type.getConstructors()[0].newInstance(config, listener, null);
        String[] clients = {"defaultMQAdminExt", "defaultMQPullConsumer"};
        for (String name : clients) {
            invoke(monitor, name, "start");
        }
        try {
            type.getMethod("doMonitorWork").invoke(monitor);
        } finally {
            for (String name : clients) {
                invoke(monitor, name, "shutdown");
            }
        }
        reports.forEach(System.out::println);
    }

    private static void invoke(Object monitor, String field, String method) throws Exception {
        Field declared = monitor.getClass().getDeclaredField(field);
        declared.setAccessible(true);
        Object client = declared.get(monitor);
        client.getClass().getMethod(method).invoke(client);
    }

    /** Members by client id, or how many messages a group lacks: how late they are depends on time. */
    private static String summary(Object report) throws Exception {
        if (report instanceof Map) {
            // Among them the monitor's own, which has another name in each run.
            return ((Map<?, ?>) report).keySet().toString().replaceAll("MonitorService_-?\\d+", "MonitorService");
        }
        Class<?> type = report.getClass();
        return type.getMethod("getConsumerGroup").invoke(report) + " " + type.getMethod("getTopic").invoke(report)
            + " lacks " + type.getMethod("getUndoneMsgsTotal").invoke(report)
            + ", at most " + type.getMethod("getUndoneMsgsSingleMQ").invoke(report);
    }
}
