package dev.stoker.cli.sql;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SqlScriptTest {

    @Test
    void semicolonsEndStatements() {
        assertThat(SqlScript.statements("SELECT 1;SELECT 2 ;\n\n;SELECT\n  3"))
                .containsExactly("SELECT 1", "SELECT 2", "SELECT 3");
        assertThat(SqlScript.statements(" \n;; ")).isEmpty();
    }

    @Test
    void quotesAreKept() {
        assertThat(SqlScript.statements("SELECT 'a;  --b''c', `d;/*`, \"e;\"; SELECT 'two\n lines'"))
                .containsExactly("SELECT 'a;  --b''c', `d;/*`, \"e;\"", "SELECT 'two\n lines'");
        assertThat(SqlScript.statements("SELECT 'open; ")).containsExactly("SELECT 'open;");
    }

    @Test
    void commentsGoAndHintsStay() {
        assertThat(SqlScript.statements(
                        "-- all; of it\nSELECT/* a;\n b */1 -- end\n; SELECT * FROM t /*+ OPTIONS('v'='1') */"))
                .containsExactly("SELECT 1", "SELECT * FROM t /*+ OPTIONS('v'='1') */");
        assertThat(SqlScript.statements("SELECT 1 /* open; SELECT 2")).containsExactly("SELECT 1");
    }
}
