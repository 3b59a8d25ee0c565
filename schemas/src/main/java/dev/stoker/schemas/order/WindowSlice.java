package dev.stoker.schemas.order;

/**
 * Identifies consecutive rows of one window.
 *
 * @param window the window's number in its lane
 * @param from index of the first row in the window
 * @param to index after the last row
 */
public record WindowSlice(int window, int from, int to) {
    public WindowSlice {
        if (window < 0 || from < 0 || to <= from) {
            throw new IllegalArgumentException("no slice: window " + window + ", [" + from + ", " + to + ")");
        }
    }

    public int rows() {
        return to - from;
    }
}
