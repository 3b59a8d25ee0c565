package dev.stoker.feeder.simulation;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Connections between processes. Bytes of one direction of a connection stay in order; each piece of them takes its own
 * time, so connections overtake each other.
 */
final class Network {
    /** A process that accepts connections. */
    interface Listener {
        void accept(Connection connection);
    }

    /** The end of a connection that is called rather than read. */
    interface Receiver {
        void connected();

        void received(byte[] bytes);

        /** The connection has ended, or never came about. */
        void closed(String why);
    }

    private record Address(SimulatedProcess process, Listener listener) {}

    final Simulation simulation;
    private final Map<String, Address> listeners = new TreeMap<>();
    private final List<Connection> connections = new ArrayList<>();
    private final long longestDelayNanos;
    /** Bytes that fit into a connection before its writer waits. */
    private final int windowBytes;

    private int numbers;

    Network(Simulation simulation, long longestDelayNanos, int windowBytes) {
        this.simulation = simulation;
        this.longestDelayNanos = longestDelayNanos;
        this.windowBytes = windowBytes;
    }

    void listen(String address, SimulatedProcess process, Listener listener) {
        listeners.put(address, new Address(process, listener));
    }

    void unlisten(String address, SimulatedProcess process) {
        Address known = listeners.get(address);
        if (known != null && known.process == process) {
            listeners.remove(address);
        }
    }

    /** Connects a client; all further news come through the receiver. */
    Connection connect(SimulatedProcess client, String address, Receiver receiver) {
        Connection connection = new Connection(this, client, address, receiver, ++numbers, windowBytes);
        simulation.after(delayNanos(), null, "connect", () -> {
            Address known = listeners.get(address);
            if (known == null || !known.process.isAlive()) {
                connection.refuse();
            } else if (client.isAlive()) {
                connections.add(connection);
                connection.establish(known.process);
                simulation.after(0, known.process, "accept", () -> known.listener.accept(connection));
            }
        });
        return connection;
    }

    /** The time that some bytes take: mostly short, now and then long. */
    long delayNanos() {
        long most = simulation.chance(0.03) ? longestDelayNanos : longestDelayNanos / 20;
        return simulation.between(20 * Simulation.MICRO, Math.max(30 * Simulation.MICRO, most));
    }

    /** Connections that are open. */
    List<Connection> open() {
        connections.removeIf(connection -> !connection.isOpen());
        return connections;
    }
}
