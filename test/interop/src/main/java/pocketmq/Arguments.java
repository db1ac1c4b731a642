package pocketmq;

import java.util.HashMap;
import java.util.Map;

/** key=value arguments after the scenario's name. */
final class Arguments {
    private final Map<String, String> values = new HashMap<>();

    Arguments(String[] args) {
        for (int i = 1; i < args.length; i++) {
            int equals = args[i].indexOf('=');
            values.put(args[i].substring(0, equals), args[i].substring(equals + 1));
        }
    }

    String text(String key) {
        String value = values.get(key);
        if (value == null) {
            throw new IllegalArgumentException("Missing argument " + key);
        }
        return value;
    }

    String text(String key, String fallback) {
        return values.getOrDefault(key, fallback);
    }

    int number(String key, int fallback) {
        return Integer.parseInt(values.getOrDefault(key, Integer.toString(fallback)));
    }
}
