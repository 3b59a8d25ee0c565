package dev.stoker.server.feed;

/**
 * TCP ports to try in ascending order; {@code 0-0} lets the system choose one.
 *
 * @param first the lowest port
 * @param last the highest port, inclusive
 */
public record PortRange(int first, int last) {
    /** The port a feeder listens on unless told otherwise. */
    public static final PortRange DEFAULT = new PortRange(7420, 7420);

    /** Any free port. */
    public static final PortRange ANY = new PortRange(0, 0);

    public PortRange {
        if (first < 0 || last > 65_535 || last < first || (first == 0 && last != 0)) {
            throw new IllegalArgumentException((first == last ? "port " + first : "ports " + first + "-" + last)
                    + ": expected one port, or a range within 1-65535");
        }
    }

    /** Parses {@code 7420}, {@code 7420-7430} or {@code 0}. */
    public static PortRange parse(String text) {
        int dash = text.indexOf('-');
        try {
            if (dash < 0) {
                int port = Integer.parseInt(text.strip());
                return new PortRange(port, port);
            }
            return new PortRange(
                    Integer.parseInt(text.substring(0, dash).strip()),
                    Integer.parseInt(text.substring(dash + 1).strip()));
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(
                    "port '" + text + "': expected a number such as 7420 or a range such as 7420-7430");
        }
    }

    @Override
    public String toString() {
        return first == last ? Integer.toString(first) : first + "-" + last;
    }
}
