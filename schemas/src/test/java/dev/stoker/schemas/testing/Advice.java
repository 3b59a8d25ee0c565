package dev.stoker.schemas.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The options and commands that messages recommend. A test takes one out of a message, runs it, and expects it to help.
 * A register names this test for each class and option or command, so that nobody writes advice that nobody ran.
 *
 * <p>A line of a register has the class, the option or {@code stoker VERB}, and the test as {@code Class#method}, with
 * tabs between them. Instead of a test, {@code reason: …} says why no test can follow the advice: it needs a machine or
 * a service that a test does not have. Help is no advice: annotations of picocli, and classes whose name begins with
 * {@code Help} or ends with {@code Flags}.
 */
public final class Advice {
    private static final Pattern OPTION = Pattern.compile("(?<![\\w-])--[a-z][a-z-]+");
    private static final Pattern COMMAND = Pattern.compile("(?<![\\w/.-])stoker ([a-z]+)(?![\\w-])");
    private static final Pattern PAIR = Pattern.compile("ShellText\\.(?:pair|names)\\(\\s*\"(--[a-z-]+)\"");
    /** Names the option that is wrong, or an option or a command alone, which is a part of something else. */
    private static final Pattern SUBJECT = Pattern.compile(
            "^(options? )?--[a-z-]+(:| and --[a-z-]+| cannot| needs| must be|=.*$|$)|^stoker [a-z]+( --[a-z-]+)? ?$");

    /** Says what an option or a command has done or does. */
    private static final Pattern NOTE = Pattern.compile("(satisf(y|ies)|that) --where|of --exclude-keys-from"
            + "|(that|only|protected from|(requested|ended) (by|with)|do not run) `?stoker [a-z]+");

    private static final Pattern WORD = Pattern.compile("(?:'[^']*'|\\\\'|[,:](?=[^\\s])|[^\\s:;,'\")`(])+");

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
        return List.of(option, unquoted(found.group(1)));
    }

    /**
     * Returns the words of a command that a message recommends, as a shell would give them to it, without {@code
     * stoker}. The command ends at the end of its line, or at a word with punctuation behind it.
     *
     * @param command its beginning, such as {@code stoker index}; can have words of the message in front
     * @throws AssertionError if the message does not recommend it
     */
    public static List<String> command(String message, String command) {
        int from = message.indexOf(command);
        if (from < 0) {
            throw new AssertionError("the message does not recommend " + command + ": " + message);
        }
        List<String> words = new ArrayList<>();
        Matcher word = WORD.matcher(message);
        int at = message.indexOf("stoker ", from) + "stoker ".length();
        while (word.find(at) && word.start() == at) {
            words.add(unquoted(word.group()));
            at = word.end() + 1;
            if (at > message.length() || message.charAt(word.end()) != ' ') {
                break;
            }
        }
        return words;
    }

    private static String unquoted(String word) {
        return word.replace("'\\''", "\u0000").replace("'", "").replace('\u0000', '\'');
    }

    /**
     * Returns {@code Class --option} or {@code Class stoker VERB} for each option and command that the messages of
     * these source folders name.
     *
     * @param verbs the commands to find; empty to find only options
     */
    public static TreeSet<String> recommended(Set<String> verbs, Path... folders) {
        TreeSet<String> found = new TreeSet<>();
        for (Path folder : folders) {
            try (Stream<Path> files = Files.walk(folder)) {
                for (Path file :
                        files.filter(f -> f.toString().endsWith(".java")).toList()) {
                    String name = file.getFileName().toString().replace(".java", "");
                    if (!name.endsWith("Flags") && !name.startsWith("Help")) {
                        advice(Files.readString(file), verbs).forEach(advice -> found.add(name + " " + advice));
                    }
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return found;
    }

    private static List<String> advice(String source, Set<String> verbs) {
        List<String> found = new ArrayList<>();
        Matcher pair = PAIR.matcher(source);
        while (pair.find()) {
            found.add(pair.group(1));
        }
        for (String text : SourceTexts.of(source)) {
            String advice = NOTE.matcher(SUBJECT.matcher(text).replaceFirst("")).replaceAll("");
            Matcher option = OPTION.matcher(advice);
            while (option.find()) {
                found.add(option.group());
            }
            Matcher command = COMMAND.matcher(advice);
            while (command.find()) {
                if (verbs.contains(command.group(1))) {
                    found.add(command.group());
                }
            }
        }
        return found;
    }

    /**
     * Checks a register of options against the sources.
     *
     * @param register its file
     * @param tests the folder with the tests
     * @return one sentence for each difference; empty if there is none
     */
    public static List<String> differences(Path register, Path tests, Path... folders) throws IOException {
        return differences(register, List.of(tests), Set.of(), folders);
    }

    /**
     * Checks a register of options and commands against the sources.
     *
     * @param register its file
     * @param tests the folders with the tests
     * @param verbs the commands
     * @return one sentence for each difference; empty if there is none
     */
    public static List<String> differences(Path register, List<Path> tests, Set<String> verbs, Path... folders)
            throws IOException {
        return differences(register, tests, recommended(verbs, folders));
    }

    /** Checks a register of commands alone, for modules whose options have another register. */
    public static List<String> differencesOfCommands(
            Path register, List<Path> tests, Set<String> verbs, Path... folders) throws IOException {
        TreeSet<String> commands = recommended(verbs, folders);
        commands.removeIf(advice -> !advice.contains(" stoker "));
        return differences(register, tests, commands);
    }

    private static List<String> differences(Path register, List<Path> tests, TreeSet<String> recommended)
            throws IOException {
        Map<String, String> registered = new TreeMap<>();
        for (String line : Files.readAllLines(register)) {
            if (!line.isBlank() && !line.startsWith("#")) {
                String[] parts = line.split("\t", -1);
                registered.put(parts[0] + " " + parts[1], parts[2]);
            }
        }
        List<String> differences = new ArrayList<>();
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

    private static Optional<String> problem(List<Path> tests, String option, String test) throws IOException {
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

    private static boolean hasTest(List<Path> tests, String type, String method, String option) throws IOException {
        String name = type + ".java";
        for (Path folder : tests) {
            try (Stream<Path> files = Files.walk(folder)) {
                for (Path file : files.filter(f -> f.getFileName().toString().equals(name))
                        .toList()) {
                    String source = Files.readString(file);
                    if (source.contains("void " + method + "(") && names(source, option)) {
                        return true;
                    }
                }
            }
        }
        return false;
    }

    /** Whether a test gives an option, or a verb as the first argument. */
    private static boolean names(String source, String advice) {
        return source.contains(advice) || source.contains(advice.replaceFirst("^stoker (.*)", "\"$1\""));
    }
}
