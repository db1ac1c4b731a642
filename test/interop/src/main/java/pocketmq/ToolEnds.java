package pocketmq;

import java.util.Arrays;

/**
 * Spares the 3 s that a tool waits at its end for a thread that looks for events as seldom: the
 * thread is woken as soon as the tool waits.
 */
final class ToolEnds implements Runnable {
    private static final int LOOK_MILLIS = 10;
    private final Thread tool;

    private ToolEnds(Thread tool) {
        this.tool = tool;
    }

    /** Watches a thread that runs tools, to the end of the JVM. */
    static void hurry(Thread tool) {
        Thread watch = new Thread(new ToolEnds(tool));
        watch.setDaemon(true);
        watch.start();
    }

    @Override
    public void run() {
        try {
            while (true) {
                Thread.sleep(LOOK_MILLIS);
                if (isEnding()) {
                    wakeEventThreads();
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean isEnding() {
        return Arrays.stream(tool.getStackTrace())
            .anyMatch(it -> it.getClassName().endsWith(".NettyRemotingClient") && it.getMethodName().equals("shutdown"));
    }

    private static void wakeEventThreads() {
        Thread.getAllStackTraces().keySet().stream()
            .filter(it -> it.getName().startsWith("NettyEventExecutor"))
            .forEach(Thread::interrupt);
    }
}
