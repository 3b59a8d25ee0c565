package dev.stoker.cli.output;

import java.io.Console;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A terminal whose screen is redrawn repeatedly, and that reads the key q without Enter. Restores screen and settings
 * at the end. One thread draws, and one waits for keys.
 *
 * <p>Not with JLine: {@code stoker top} needs the alternate screen, the terminal's size and one key, which take three
 * escape sequences and {@code stty}. JLine would add its native libraries to the start of every verb.
 */
public final class Terminal implements AutoCloseable {

    private static final String OTHER_SCREEN = "\033[?1049h\033[?25l";
    private static final String FIRST_SCREEN = "\033[?25h\033[?1049l";
    private static final int USUAL_LINES = 24;
    private static final int USUAL_COLUMNS = 80;

    private final PrintWriter out;
    private final String settings;

    private Terminal(PrintWriter out, String settings) {
        this.out = SafeOutput.raw(out);
        this.settings = settings;
    }

    /**
     * Returns whether the command reads from a terminal and writes to it. From JDK 22 on, a console can exist without
     * one and must be asked.
     */
    @SuppressWarnings("SystemConsoleNull") // The method that replaces the comparison is missing in JDK 17.
    public static boolean isThere() {
        Console console = System.console();
        if (console == null) {
            return false;
        }
        try {
            return (boolean) Console.class.getMethod("isTerminal").invoke(console);
        } catch (ReflectiveOperationException e) {
            return true;
        }
    }

    /** Returns whether the command writes to a terminal, wherever it reads from. */
    public static boolean isOutput() {
        try {
            String file = Files.readSymbolicLink(Path.of("/proc/self/fd/1")).toString();
            return file.startsWith("/dev/pts/") || file.startsWith("/dev/tty") || file.equals("/dev/console");
        } catch (IOException e) {
            return isThere();
        }
    }

    /** Returns the number of columns of the terminal; 80 if it does not say. */
    public static int columns() {
        String[] size = stty("size").split(" ", -1);
        return size.length == 2 && !size[1].equals("0") ? Integer.parseInt(size[1]) : USUAL_COLUMNS;
    }

    /** @param quit called when q is pressed */
    public static Terminal open(PrintWriter out, Runnable quit) {
        String settings = stty("-g");
        if (!settings.isEmpty()) {
            stty("-icanon", "-echo", "min", "1");
        }
        Thread keys = new Thread(() -> listen(quit), "stoker-keys");
        keys.setDaemon(true);
        keys.start();
        SafeOutput.raw(out).print(OTHER_SCREEN);
        return new Terminal(out, settings);
    }

    private static void listen(Runnable quit) {
        try {
            int key;
            do {
                key = System.in.read();
            } while (key >= 0 && key != 'q' && key != 'Q');
            if (key >= 0) {
                quit.run();
            }
        } catch (IOException e) {
            // Without stty, Ctrl-C still ends the display.
        }
    }

    /** Runs stty with these arguments and returns its output; empty without stty. */
    private static String stty(String... arguments) {
        try {
            List<String> command = new ArrayList<>(List.of("stty"));
            command.addAll(List.of(arguments));
            Process process = new ProcessBuilder(command)
                    .redirectInput(ProcessBuilder.Redirect.INHERIT)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
            return process.waitFor(2, TimeUnit.SECONDS) && process.exitValue() == 0 ? said : "";
        } catch (IOException e) {
            return "";
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return "";
        }
    }

    /** Draws a text with colours over the previous one; lines that do not fit are cut off. */
    public void show(String text) {
        // A terminal of unknown size reports 0 0.
        String[] size = stty("size").split(" ", -1);
        int lines = size.length == 2 && !size[0].equals("0") ? Integer.parseInt(size[0]) : USUAL_LINES;
        int columns = size.length == 2 && !size[1].equals("0") ? Integer.parseInt(size[1]) : USUAL_COLUMNS;
        StringBuilder screen = new StringBuilder("\033[H");
        List<String> rows = Style.safe(text).lines().toList();
        for (int i = 0; i < Math.min(rows.size(), lines - 1); i++) {
            screen.append(Style.cut(rows.get(i), columns)).append("\033[K\r\n");
        }
        out.print(screen.append("\033[J"));
        out.flush();
    }

    @Override
    public void close() {
        out.print(FIRST_SCREEN);
        out.flush();
        if (!settings.isEmpty()) {
            stty(settings);
        }
    }
}
