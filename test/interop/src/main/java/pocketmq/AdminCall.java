package pocketmq;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;

/** Calls of the tools' API that no mqadmin command makes; by reflection, as the drivers are compiled against the client alone. */
final class AdminCall {
    private static final int REPEAT_SECONDS_MAX = 60;
    private static final int REPEAT_MILLIS = 200;
    private static final String TOOL = "org.apache.rocketmq.tools.admin.DefaultMQAdminExt";

    private AdminCall() {
    }

    /** Prints the JSON of what `method` of DefaultMQAdminExt returns, or what it throws. */
    static void run(Arguments arguments) throws Exception {
        Class<?> type = Class.forName(TOOL);
        Object admin = type.getConstructor().newInstance();
        type.getMethod("setNamesrvAddr", String.class).invoke(admin, arguments.text("namesrv"));
        type.getMethod("setInstanceName", String.class).invoke(admin, "call" + System.nanoTime());
        type.getMethod("start").invoke(admin);
        try {
            String[] values = arguments.text("values").split(",", -1);
            Method method = Arrays.stream(type.getMethods())
                .filter(it -> it.getName().equals(arguments.text("method")))
                .filter(it -> it.getParameterCount() == values.length)
                .findFirst()
                .orElse(null);
            if (method == null) {
                System.out.println("no such call in this version");
                return;
            }
            Object[] converted = new Object[values.length];
            for (int i = 0; i < values.length; i++) {
                converted[i] = converted(method.getParameterTypes()[i], values[i]);
            }
            if (arguments.text("until", "").isEmpty()) {
                System.out.println(json(method.invoke(admin, converted)));
            } else {
                repeat(arguments.text("until"), () -> json(method.invoke(admin, converted)));
            }
        } catch (InvocationTargetException e) {
            System.out.println(e.getCause());
        } finally {
            type.getMethod("shutdown").invoke(admin);
        }
    }

    private static Object converted(Class<?> type, String value) {
        if (type == boolean.class || type == Boolean.class) {
            return Boolean.valueOf(value);
        }
        return type == long.class ? (Object) Long.valueOf(value) : value;
    }

    private static Object json(Object value) throws Exception {
        return Class.forName("com.alibaba.fastjson.JSON")
            .getMethod("toJSONString", Object.class)
            .invoke(null, value);
    }

    /** Calls again and again, until the answer holds `text`. */
    private static void repeat(String text, Callable<Object> call) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(REPEAT_SECONDS_MAX);
        String answer = "";
        while (!answer.contains(text) && System.nanoTime() < deadline) {
            try {
                answer = String.valueOf(call.call());
            } catch (InvocationTargetException e) {
                answer = String.valueOf(e.getCause());
            }
            Thread.sleep(REPEAT_MILLIS);
        }
        System.out.println(answer.contains(text) ? "reached" : answer);
    }
}
