package dev.stoker.client;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.stoker.schemas.protocol.UnixAddress;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A feed as the user named it: a feed's name, looked up again at every attempt to connect in the file that the feed leaves in
 * {@code $STOKER_HOME/feeds}, or a list of addresses.
 *
 * @param name empty where addresses were given
 * @param given empty where a name was given
 * @param home {@code $STOKER_HOME}
 * @param seen the certificate that the feed's file named last: what was served over TLS once is not spoken to in plain text
 */
record Target(Optional<String> name, List<String> given, Path home, AtomicReference<Optional<Path>> seen) {
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}");
    /** Named in an error. */
    private static final int KNOWN = 10;

    private static final JsonMapper JSON = new JsonMapper();

    /**
     * Reads a feed's name or {@code host:port,…}; without one, {@code STOKER_FEED}.
     *
     * @throws IllegalArgumentException for text that can be neither
     * @throws FeedNotFoundException if nothing is named at all
     */
    static Target of(Optional<String> text, Map<String, String> environment) {
        Path home = Optional.ofNullable(environment.get("STOKER_HOME"))
                .filter(value -> !value.isEmpty())
                .map(Path::of)
                .orElseGet(() ->
                        Path.of(environment.getOrDefault("HOME", System.getProperty("user.home", ".")), ".stoker"));
        String source = text.isPresent() ? "" : "STOKER_FEED: ";
        String named = text.orElseGet(() -> environment.getOrDefault("STOKER_FEED", ""));
        if (named.isEmpty()) {
            throw new FeedNotFoundException("no feed is named: give a name or host:port, or set STOKER_FEED");
        }
        List<String> addresses = Stream.of(named.split(",")).map(String::strip).toList();
        if (addresses.stream().allMatch(address -> Address.parse(address).isPresent())) {
            return new Target(Optional.empty(), addresses, home, new AtomicReference<>(Optional.empty()));
        }
        if (!NAME.matcher(named).matches()) {
            throw new IllegalArgumentException(
                    source + "'" + named + "' is neither a feed name nor host:port[,host:port…]");
        }
        return new Target(Optional.of(named), List.of(), home, new AtomicReference<>(Optional.empty()));
    }

    /**
     * Where to try now.
     *
     * @throws FeedNotFoundException if the name is not known (any more)
     */
    List<String> addresses() {
        if (name.isEmpty()) {
            return given;
        }
        JsonNode file = file();
        List<String> addresses = new ArrayList<>();
        for (JsonNode address : file.path("addresses")) {
            // What this client cannot speak to is left to others.
            if (Address.parse(address.asText()).isPresent()) {
                addresses.add(address.asText());
            }
        }
        if (addresses.isEmpty()) {
            throw new FeedNotFoundException(this + ": " + path() + " names no address yet; it is starting");
        }
        return addresses;
    }

    /** The feed's token, where a file on this machine holds it and may be read. */
    Optional<String> token() {
        if (name.isEmpty()) {
            return Optional.empty();
        }
        try {
            String path = file().path("token_file").asText("");
            return path.isEmpty()
                    ? Optional.empty()
                    : Optional.of(RegularFile.text(Path.of(path)).strip());
        } catch (IOException | FeedNotFoundException e) {
            return Optional.empty();
        }
    }

    /** The Unix-domain sockets of those addresses that have one, as far as the feed's file tells. */
    Map<String, UnixAddress> unix() {
        Map<String, UnixAddress> places = new LinkedHashMap<>();
        if (name.isPresent()) {
            try {
                for (Map.Entry<String, JsonNode> place : file().path("unix").properties()) {
                    JsonNode said = place.getValue();
                    places.put(
                            place.getKey(),
                            new UnixAddress(
                                    said.path("host").asText(),
                                    said.path("path").asText()));
                }
            } catch (FeedNotFoundException | IllegalArgumentException e) {
                return Map.of();
            }
        }
        return places;
    }

    /**
     * The file with the feed's own certificate, where the feed runs on this machine and speaks TLS. A feed that has ended keeps
     * the last one, since its addresses may be another process's by now.
     *
     * @throws TlsException if the feed had one and its file names none any more
     */
    Optional<Path> certificate() {
        if (name.isEmpty()) {
            return Optional.empty();
        }
        try {
            if (certificate(file()).isEmpty() && seen.get().isPresent()) {
                throw new TlsException(this + " was served over TLS, with the certificate "
                        + seen.get().get() + ", and " + path()
                        + " now names none: this trainer does not go on in plain text; start the feed with --tls-cert and"
                        + " --tls-key, or start the trainer again");
            }
        } catch (FeedNotFoundException e) {
            // It has ended; what was seen of it counts.
        }
        return seen.get();
    }

    private static Optional<Path> certificate(JsonNode file) {
        return Optional.of(file.path("tls_cert").asText(""))
                .filter(path -> !path.isEmpty())
                .map(Path::of);
    }

    private JsonNode file() {
        JsonNode file;
        try {
            file = JSON.readTree(RegularFile.read(path()));
        } catch (NoSuchFileException e) {
            throw new FeedNotFoundException("no " + this + ": " + path() + " does not exist; " + others()
                    + "start it with `stoker feed … --name " + name.orElseThrow() + "`");
        } catch (IOException e) {
            throw new FeedNotFoundException(this + ": " + path() + " cannot be read: " + e.getMessage());
        }
        if (file.path("ended_ms").asLong(0) != 0) {
            throw new FeedNotFoundException(
                    this + " has ended; start it with `stoker feed … --name " + name.orElseThrow() + "`");
        }
        Optional<Path> certificate = certificate(file);
        if (certificate.isPresent()) {
            seen.set(certificate);
        }
        return file;
    }

    private String others() {
        try (Stream<Path> files = Files.list(home.resolve("feeds"))) {
            String known = files.map(file -> file.getFileName().toString())
                    .filter(file -> file.endsWith(".json"))
                    .map(file -> file.substring(0, file.length() - ".json".length()))
                    .sorted()
                    .limit(KNOWN)
                    .collect(Collectors.joining(", "));
            return known.isEmpty() ? "" : "feeds known there: " + known + "; ";
        } catch (IOException e) {
            return "";
        }
    }

    /** Says that the feed has ended if its file names a process of this machine that is gone. */
    Optional<String> ended() {
        if (name.isEmpty()) {
            return Optional.empty();
        }
        try {
            JsonNode file = file();
            long pid = file.path("pid").asLong(0);
            boolean isLocal = addresses().stream()
                    .allMatch(address ->
                            Address.parse(address).orElseThrow().host().matches("127\\.0\\.0\\.1|localhost|::1"));
            if (pid > 0 && isLocal && ProcessHandle.of(pid).isEmpty()) {
                return Optional.of(this + " has ended: process " + pid
                        + " is gone; start it with `stoker feed … --name " + name.orElseThrow() + "`");
            }
        } catch (FeedNotFoundException e) {
            return Optional.empty();
        }
        return Optional.empty();
    }

    private Path path() {
        return home.resolve("feeds").resolve(name.orElseThrow() + ".json");
    }

    /** As it was named. */
    String text() {
        return name.orElseGet(() -> String.join(",", given));
    }

    @Override
    public String toString() {
        return name.map(n -> "feed '" + n + "'").orElseGet(() -> String.join(",", given));
    }
}
