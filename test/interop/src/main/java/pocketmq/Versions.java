package pocketmq;

import java.lang.reflect.Method;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;

/** What 4.9 and 5.x keep in different packages. */
final class Versions {
    private Versions() {
    }

    /** Sets BROADCASTING; MessageModel moved its package in 5.0. */
    static void setBroadcasting(DefaultMQPushConsumer consumer) throws Exception {
        for (Method method : DefaultMQPushConsumer.class.getMethods()) {
            if (method.getName().equals("setMessageModel")) {
                for (Object constant : method.getParameterTypes()[0].getEnumConstants()) {
                    if (constant.toString().equals("BROADCASTING")) {
                        method.invoke(consumer, constant);
                        return;
                    }
                }
            }
        }
        throw new IllegalStateException("DefaultMQPushConsumer has no BROADCASTING");
    }
}
