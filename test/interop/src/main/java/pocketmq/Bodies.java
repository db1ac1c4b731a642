package pocketmq;

import java.util.Arrays;
import java.util.Random;

/** Bodies that anyone can compute again from a message's number. */
final class Bodies {
    static final int SIZE_MAX = 4 * 1024 * 1024;

    private Bodies() {
    }

    /** 1 B to 4 KiB for the first `small` numbers, then in even steps up to exactly 4 MiB. */
    static int sizeOf(int number, int small, int large) {
        if (number < small) {
            return 1 + (int) ((long) number * 7919 % 4096);
        }
        int step = number - small + 1;
        return step == large ? SIZE_MAX : (int) ((long) SIZE_MAX * step / large);
    }

    static byte[] bodyOf(int number, int size) {
        byte[] body = new byte[size];
        new Random(number).nextBytes(body);
        return body;
    }

    static boolean isBodyOf(int number, int size, byte[] body) {
        return body.length == size && Arrays.equals(body, bodyOf(number, size));
    }
}
