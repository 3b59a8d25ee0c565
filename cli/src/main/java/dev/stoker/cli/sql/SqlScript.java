package dev.stoker.cli.sql;

import java.util.ArrayList;
import java.util.List;

/** Splits a text into SQL statements. */
final class SqlScript {
    private final String text;
    private final List<String> statements = new ArrayList<>();
    private final StringBuilder statement = new StringBuilder();
    private int at;

    private SqlScript(String text) {
        this.text = text;
    }

    /**
     * Returns the statements without their semicolons and comments; hints are kept. Outside quotes, each run of white
     * space becomes one space.
     */
    static List<String> statements(String text) {
        SqlScript script = new SqlScript(text);
        while (script.at < text.length()) {
            script.next();
        }
        script.end();
        return script.statements;
    }

    private void next() {
        char c = text.charAt(at);
        if (c == '\'' || c == '"' || c == '`') {
            take(after(String.valueOf(c), at + 1));
        } else if (text.startsWith("--", at)) {
            at = after("\n", at);
            space();
        } else if (text.startsWith("/*+", at)) {
            take(after("*/", at));
        } else if (text.startsWith("/*", at)) {
            at = after("*/", at + 2);
            space();
        } else if (c == ';') {
            at++;
            end();
        } else if (Character.isWhitespace(c)) {
            at++;
            space();
        } else {
            take(at + 1);
        }
    }

    /** Returns the position after the next occurrence of a mark, or the end of the text. */
    private int after(String mark, int from) {
        int found = text.indexOf(mark, from);
        return found < 0 ? text.length() : found + mark.length();
    }

    private void take(int end) {
        statement.append(text, at, end);
        at = end;
    }

    private void space() {
        if (!statement.isEmpty() && statement.charAt(statement.length() - 1) != ' ') {
            statement.append(' ');
        }
    }

    private void end() {
        String whole = statement.toString().strip();
        if (!whole.isEmpty()) {
            statements.add(whole);
        }
        statement.setLength(0);
    }
}
