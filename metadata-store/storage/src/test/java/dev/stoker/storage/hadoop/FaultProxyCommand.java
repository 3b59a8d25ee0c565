package dev.stoker.storage.hadoop;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Scanner;

/**
 * A {@link FaultProxy} from a command line, for benchmarks: {@code --listen 18091 --to 127.0.0.1:18090 [--latency-ms
 * 20] [--bytes-per-second 300000000] [--errors 0.2] [--seed 7]}. Prints requests and bytes as one line of JSON for
 * every line on its standard input ({@code reset} sets them to zero afterwards), and ends with it.
 */
public final class FaultProxyCommand {

    private FaultProxyCommand() {}

    public static void main(String[] args) throws IOException {
        Map<String, String> options = new HashMap<>();
        for (int i = 0; i + 1 < args.length; i += 2) {
            options.put(args[i], args[i + 1]);
        }
        String[] to = options.get("--to").split(":", 2);
        FaultProxy proxy = FaultProxy.start(
                Integer.parseInt(options.getOrDefault("--listen", "0")),
                new InetSocketAddress(to[0], Integer.parseInt(to[1])),
                Long.parseLong(options.getOrDefault("--seed", "0")));
        proxy.latency(Duration.ofMillis(Long.parseLong(options.getOrDefault("--latency-ms", "0"))));
        long bandwidth = Long.parseLong(options.getOrDefault("--bytes-per-second", "0"));
        if (bandwidth > 0) {
            proxy.bandwidth(bandwidth);
        }
        double errors = Double.parseDouble(options.getOrDefault("--errors", "0"));
        if (errors > 0) {
            proxy.atRate(errors, request -> true, Fault.slowDown());
        }
        System.out.println(proxy.endpoint());
        try (Scanner in = new Scanner(System.in, StandardCharsets.UTF_8)) {
            while (in.hasNextLine()) {
                String line = in.nextLine().strip();
                StringBuilder json = new StringBuilder("{");
                proxy.counts()
                        .forEach((method, count) -> json.append('"')
                                .append(method)
                                .append("\": ")
                                .append(count)
                                .append(", "));
                System.out.println(json.append("\"requests\": ")
                        .append(proxy.requests())
                        .append(", \"bytes\": ")
                        .append(proxy.bytesToClients())
                        .append(", \"sent\": ")
                        .append(proxy.bytesFromClients())
                        .append('}'));
                if (line.equals("reset")) {
                    proxy.resetCounts();
                }
            }
        }
        proxy.close();
    }
}
