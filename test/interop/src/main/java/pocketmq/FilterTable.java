package pocketmq;

import java.lang.reflect.Field;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Apache's own filters on the lines of a file, parts separated by tabs. "M name value ..." is a message. "E text" is a
 * SQL92 expression and gives P when it is refused, else a letter for each message: T, F, N for null, X for an
 * exception. "B errorRate num text" gives the Bloom filter's bits of a text, "C json" a consumerFilter.json as Apache's
 * manager writes it again. Answers begin with "= ".
 */
public final class FilterTable {
    /** Before each answer: Apache's classes print lines of their own. */
    private static final String MARK = "= ";
    // By reflection: the drivers are compiled against the client alone.
    private static final String PACKAGE = "org.apache.rocketmq.filter.";

    private FilterTable() {
    }

    public static void main(String[] args) throws Exception {
        Object factory = Class.forName(PACKAGE + "FilterFactory").getField("INSTANCE").get(null);
        Object filter = factory.getClass().getMethod("get", String.class).invoke(factory, "SQL92");
        Method compile = Class.forName(PACKAGE + "FilterSpi").getMethod("compile", String.class);
        Class<?> contextType = Class.forName(PACKAGE + "expression.EvaluationContext");
        Method evaluate = Class.forName(PACKAGE + "expression.Expression").getMethod("evaluate", contextType);
        List<Object> contexts = new ArrayList<>();
        StringBuilder out = new StringBuilder();
        for (String line : Files.readAllLines(Paths.get(args[0]), StandardCharsets.US_ASCII)) {
            String[] parts = line.split("\t", -1);
            for (int i = 1; i < parts.length; i++) {
                parts[i] = unescape(parts[i]);
            }
            switch (parts[0]) {
                case "M":
                    contexts.add(context(contextType, parts));
                    break;
                case "B":
                    out.append(MARK).append(bloom(parts)).append('\n');
                    break;
                case "C":
                    out.append(MARK).append(rewritten(parts[1])).append('\n');
                    break;
                default:
                    out.append(MARK).append(results(filter, compile, evaluate, contexts, parts[1])).append('\n');
            }
        }
        System.out.print(out);
        System.out.flush();
        System.exit(0);
    }

    private static String results(Object filter, Method compile, Method evaluate, List<Object> contexts, String text)
        throws IllegalAccessException {
        Object expression;
        try {
            expression = compile.invoke(filter, text);
        } catch (InvocationTargetException e) {
            return "P";
        }
        StringBuilder results = new StringBuilder();
        for (Object context : contexts) {
            try {
                Object value = evaluate.invoke(expression, context);
                results.append(value == null ? 'N' : (Boolean) value ? 'T' : 'F');
            } catch (InvocationTargetException e) {
                results.append('X');
            }
        }
        return results.toString();
    }

    private static Object context(Class<?> type, String[] parts) {
        final Map<String, String> properties = new HashMap<>();
        for (int i = 1; i + 1 < parts.length; i += 2) {
            properties.put(parts[i], parts[i + 1]);
        }
        return Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, new InvocationHandler() {
            @Override
            public Object invoke(Object proxy, Method method, Object[] args) {
                return method.getName().equals("get") ? properties.get(args[0]) : properties;
            }
        });
    }

    private static String bloom(String[] parts) throws Exception {
        Class<?> type = Class.forName(PACKAGE + "util.BloomFilter");
        Object filter = type.getMethod("createByFn", int.class, int.class)
            .invoke(null, Integer.parseInt(parts[1]), Integer.parseInt(parts[2]));
        Object data = type.getMethod("generate", String.class).invoke(filter, parts[3]);
        StringBuilder text = new StringBuilder();
        text.append(data.getClass().getMethod("getBitNum").invoke(data));
        Field positions = data.getClass().getDeclaredField("bitPos");
        positions.setAccessible(true);
        for (int position : (int[]) positions.get(data)) {
            text.append(' ').append(position);
        }
        return text.toString();
    }

    private static Object rewritten(String json) throws Exception {
        Class<?> type = Class.forName("org.apache.rocketmq.broker.filter.ConsumerFilterManager");
        Object manager = type.getConstructor().newInstance();
        type.getMethod("decode", String.class).invoke(manager, json);
        return type.getMethod("encode", boolean.class).invoke(manager, false);
    }

    /** Four hexadecimal digits behind a backslash are one UTF-16 unit. */
    private static String unescape(String text) {
        StringBuilder result = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '\\') {
                result.append((char) Integer.parseInt(text.substring(i + 1, i + 5), 16));
                i += 4;
            } else {
                result.append(c);
            }
        }
        return result.toString();
    }
}
