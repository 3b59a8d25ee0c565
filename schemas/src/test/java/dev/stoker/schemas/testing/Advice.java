package dev.stoker.schemas.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The options that messages recommend. A test takes an option out of a message, gives it to the command, and expects it
 * to help. A register names this test for each class and option, so that nobody writes advice that nobody ran.
 *
 * <p>A line of a register has the class, the option, and the test as {@code Class#method}, with tabs between them.
 * Instead of a test, {@code reason: …} says why no test can follow the advice: it needs a machine or a service that a
 * test does not have.
 */
public final class Advice {
    private static final Pattern LITERAL = Pattern.compile("\"((?:[^\"\\\\]|\\\\.)*)\"");
    private static final Pattern OPTION = Pattern.compile("(?<![\\w-])--[a-z][a-z-]+");
    private static final Pattern PAIR = Pattern.compile("ShellText\\.(?:pair|names)\\(\\s*\"(--[a-z-]+)\"");
    /** Names the option that is wrong, or an option alone, which is a part of something else. */
    private static final Pattern SUBJECT =
            Pattern.compile("^(options? )?--[a-z-]+(:| and --[a-z-]+| cannot| needs|=?$)");

    /** Says what an option has done. */
    private static final Pattern NOTE = Pattern.compile("(satisf(y|ies)|that) --where");

    private static final String REASON = "reason:";
    private static final Pattern TEST = Pattern.compile("(\\w+)#(\\w+)");

    private Advice() {}

    /**
     * Returns the words of an option that a message recommends, as a shell would give them to a command.
     *
     * @throws AssertionError if the message does not recommend it
     */
    public static List<String> in(String message, String option) {
        Matcher found = Pattern.compile(Pattern.quote(option) + " ((?:'[^']*'|\\\\'|[,:](?=[^\\s])|[^\\s:;,'\")`])+)")
                .matcher(message);
        if (!found.find()) {
            throw new AssertionError("the message does not recommend " + option + ": " + message);
        }
        String word = found.group(1).replace("'\\''", "\u0000").replace("'", "").replace('\u0000', '\'');
        return List.of(option, word);
    }

    /** Returns {@code Class --option} for each option that the messages of these source folders name. */
    public static TreeSet<String> recommended(Path... folders) {
        TreeSet<String> found = new TreeSet<>();
        for (Path folder : folders) {
            try (Stream<Path> files = Files.walk(folder)) {
                for (Path file :
                        files.filter(f -> f.toString().endsWith(".java")).toList()) {
                    String name = file.getFileName().toString().replace(".java", "");
                    if (!name.endsWith("Flags")) {
                        options(Files.readString(file)).forEach(option -> found.add(name + " " + option));
                    }
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return found;
    }

    private static List<String> options(String source) {
        List<String> options = new ArrayList<>();
        Matcher pair = PAIR.matcher(source);
        while (pair.find()) {
            options.add(pair.group(1));
        }
        for (String line : source.split("\n", -1)) {
            if (line.strip().startsWith("*") || line.strip().startsWith("//")) {
                continue;
            }
            Matcher literal = LITERAL.matcher(line);
            while (literal.find()) {
                String advice = SUBJECT.matcher(literal.group(1)).replaceFirst("");
                Matcher option = OPTION.matcher(NOTE.matcher(advice).replaceAll(""));
                while (option.find()) {
                    options.add(option.group());
                }
            }
        }
        return options;
    }

    /**
     * Checks a register against the sources.
     *
     * @param register its file
     * @param tests the folder with the tests
     * @return one sentence for each difference; empty if there is none
     */
    public static List<String> differences(Path register, Path tests, Path... folders) throws IOException {
        Map<String, String> registered = new TreeMap<>();
        for (String line : Files.readAllLines(register)) {
            if (!line.isBlank() && !line.startsWith("#")) {
                String[] parts = line.split("\t", -1);
                registered.put(parts[0] + " " + parts[1], parts[2]);
            }
        }
        List<String> differences = new ArrayList<>();
        TreeSet<String> recommended = recommended(folders);
        for (String advice : recommended) {
            if (!registered.containsKey(advice)) {
                differences.add(advice + " is recommended, but " + register.getFileName() + " names no test for it");
            }
        }
        for (Map.Entry<String, String> line : registered.entrySet()) {
            if (!recommended.contains(line.getKey())) {
                differences.add(line.getKey() + " is registered, but no message names it");
            } else {
                String option = line.getKey().substring(line.getKey().indexOf(' ') + 1);
                problem(tests, option, line.getValue())
                        .ifPresent(problem -> differences.add(line.getKey() + " is registered " + problem));
            }
        }
        return differences;
    }

    private static Optional<String> problem(Path tests, String option, String test) throws IOException {
        if (test.startsWith(REASON)) {
            return test.substring(REASON.length()).isBlank() ? Optional.of("without a reason") : Optional.empty();
        }
        Matcher name = TEST.matcher(test);
        if (!name.matches()) {
            return Optional.of("for " + test + ", which is neither a test nor a reason");
        }
        return hasTest(tests, name.group(1), name.group(2), option)
                ? Optional.empty()
                : Optional.of("for " + test + ", which does not exist or does not name the option");
    }

    private static boolean hasTest(Path tests, String type, String method, String option) throws IOException {
        String name = type + ".java";
        try (Stream<Path> files = Files.walk(tests)) {
            for (Path file :
                    files.filter(f -> f.getFileName().toString().equals(name)).toList()) {
                String source = Files.readString(file);
                if (source.contains("void " + method + "(") && source.contains(option)) {
                    return true;
                }
            }
        }
        return false;
    }
}
