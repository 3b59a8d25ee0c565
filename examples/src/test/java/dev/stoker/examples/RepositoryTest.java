package dev.stoker.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Checks that every link has a target and that no file names the machine it was written on. */
class RepositoryTest {

    private static final Path ROOT = Path.of("").toAbsolutePath().getParent().normalize();
    private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s]+)\\)");
    private static final Pattern HEADING = Pattern.compile("(?m)^#+ +(.*)$");
    /** Home and work directories, and hosts of a private network. */
    private static final Pattern MACHINE = Pattern.compile(
            "(?<![\\w.~$}/-])/(?:root|home|Users|work|mnt)/\\w|artifactory|://[\\w.-]+\\.(?:internal|local|corp)\\b");

    private static final Set<String> NOT_OURS =
            Set.of(".git", "target", ".venv", ".site", ".idea", "data", "__pycache__", ".pytest_cache", ".ruff_cache");
    private static final Pattern TEXT =
            Pattern.compile(".*\\.(md|java|py|xml|sh|toml|properties|json|svg|yaml)|[a-z]+|.*/(run|env|check)");

    @Test
    void linksOfEveryPageLeadSomewhere() throws IOException {
        List<String> dead = new ArrayList<>();
        for (Path page : files()) {
            if (!page.toString().endsWith(".md")) {
                continue;
            }
            Matcher links = LINK.matcher(Files.readString(page));
            while (links.find()) {
                String link = links.group(1);
                if (!link.contains("://") && !leadsSomewhere(page, link)) {
                    dead.add(ROOT.relativize(page) + ": " + link);
                }
            }
        }
        assertThat(dead).isEmpty();
    }

    @Test
    void nothingNamesTheMachineItWasWrittenOn() throws IOException {
        List<String> found = new ArrayList<>();
        for (Path file : files()) {
            String name = ROOT.relativize(file).toString();
            if (!TEXT.matcher(name).matches() || file.endsWith("RepositoryTest.java")) {
                continue;
            }
            for (String line : new String(Files.readAllBytes(file), StandardCharsets.UTF_8).split("\n")) {
                if (MACHINE.matcher(line).find()) {
                    found.add(name + ": " + line.strip());
                }
            }
        }
        assertThat(found).isEmpty();
    }

    private static boolean leadsSomewhere(Path page, String link) throws IOException {
        int hash = link.indexOf('#');
        String file = hash < 0 ? link : link.substring(0, hash);
        Path target = file.isEmpty() ? page : page.resolveSibling(file).normalize();
        if (!Files.exists(target)) {
            return false;
        }
        if (hash < 0 || !target.toString().endsWith(".md")) {
            return true;
        }
        return HEADING.matcher(Files.readString(target))
                .results()
                .anyMatch(heading -> anchor(heading.group(1)).equals(link.substring(hash + 1)));
    }

    /** Returns the anchor of a heading, as GitHub builds it. */
    private static String anchor(String heading) {
        return heading.strip()
                .toLowerCase(Locale.ROOT)
                .replaceAll("[^\\p{L}\\p{N} _-]", "")
                .replace(' ', '-');
    }

    private static List<Path> files() throws IOException {
        List<Path> files = new ArrayList<>();
        collect(ROOT, files);
        assertThat(files).hasSizeGreaterThan(300);
        return files;
    }

    private static void collect(Path directory, List<Path> files) throws IOException {
        try (Stream<Path> entries = Files.list(directory)) {
            for (Path entry : entries.sorted().toList()) {
                if (NOT_OURS.contains(entry.getFileName().toString())) {
                    continue;
                }
                if (Files.isDirectory(entry)) {
                    collect(entry, files);
                } else {
                    files.add(entry);
                }
            }
        }
    }
}
