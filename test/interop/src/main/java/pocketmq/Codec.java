package pocketmq;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import org.apache.rocketmq.remoting.protocol.RemotingSerializable;

/**
 * Bodies through the stock classes: a line of `bodies` is a class and a body in base64, the same
 * line of `answers` what encode() gives for the object that decode() made of it.
 */
final class Codec {
    /** Where 4.9 and 5.x keep their bodies. */
    private static final String[] PACKAGES = {
        "common.protocol.body", "common.protocol.heartbeat", "common.protocol.route",
        "common.protocol.header", "common.admin", "common.subscription", "common",
        "remoting.protocol.body", "remoting.protocol.heartbeat", "remoting.protocol.route",
        "remoting.protocol.header", "remoting.protocol.admin", "remoting.protocol.subscription",
        "remoting.protocol",
    };

    private Codec() {
    }

    static void run(Arguments arguments) throws Exception {
        List<String> faults = new ArrayList<>();
        List<String> answers = new ArrayList<>();
        Path bodies = Paths.get(arguments.text("bodies"));
        for (String line : Files.readAllLines(bodies, StandardCharsets.US_ASCII)) {
            int blank = line.indexOf(' ');
            String name = line.substring(0, blank);
            byte[] body = Base64.getDecoder().decode(line.substring(blank + 1));
            try {
                Object decoded = RemotingSerializable.decode(body, classOf(name));
                byte[] encoded = RemotingSerializable.encode(decoded);
                answers.add(Base64.getEncoder().encodeToString(encoded));
            } catch (Exception e) {
                faults.add(name + " " + new String(body, StandardCharsets.UTF_8) + ": " + e);
                answers.add("");
            }
        }
        Files.write(Paths.get(arguments.text("answers")), answers, StandardCharsets.US_ASCII);
        Driver.result(faults, "bodies", answers.size());
    }

    private static Class<?> classOf(String name) {
        for (String it : PACKAGES) {
            try {
                return Class.forName("org.apache.rocketmq." + it + "." + name);
            } catch (ClassNotFoundException e) {
                // Of the other version, or another kind.
            }
        }
        throw new IllegalArgumentException("No class " + name);
    }
}
