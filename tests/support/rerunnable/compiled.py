"""Projects of the runners that build first."""

from __future__ import annotations

from tests.support.rerunnable.project import HOME, Project

MAVEN = HOME / ".m2" / "repository"
POM = """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>g</groupId><artifactId>shop</artifactId><version>1</version>
<properties><maven.compiler.source>17</maven.compiler.source><maven.compiler.target>17</maven.compiler.target>
</properties><dependencies><dependency><groupId>org.junit.jupiter</groupId><artifactId>junit-jupiter</artifactId>
<version>5.10.2</version><scope>test</scope></dependency></dependencies><build><plugins>
<plugin><artifactId>maven-surefire-plugin</artifactId><version>3.2.5</version></plugin>
<plugin><artifactId>maven-resources-plugin</artifactId><version>3.3.1</version></plugin>
<plugin><artifactId>maven-compiler-plugin</artifactId><version>3.13.0</version></plugin>
</plugins></build></project>
"""
COMPILED = {
    "go test": Project(
        "go",
        "go test ./...",
        {
            "go.mod": "module example.com/shop\n\ngo 1.19\n",
            "a_test.go": """package shop
import "testing"
func TestSum(t *testing.T) { t.Error("wrong") }
func TestSummary(t *testing.T) {}
func TestTable(t *testing.T) {
	t.Run("a b (c)", func(t *testing.T) { t.Error("wrong") })
	t.Run("fine", func(t *testing.T) {})
}
""",
        },
        {"TestSum", "TestTable", "TestTable/a_b_(c)"},
        4,
        environment={"GOFLAGS": "-mod=mod", "GO111MODULE": "on"},
    ),
    "go test, subtests only": Project(
        "go",
        "go test ./...",
        {
            "go.mod": "module example.com/shop\n\ngo 1.19\n",
            "a_test.go": """package shop
import "testing"
func TestTable(t *testing.T) {
	t.Run("a b (c)", func(t *testing.T) { t.Error("wrong") })
	t.Run("fine", func(t *testing.T) {})
}
""",
        },
        {"TestTable", "TestTable/a_b_(c)"},
        2,
    ),
    "cargo test": Project(
        "cargo",
        "cargo test --offline -- --nocapture",
        {
            "Cargo.toml": '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n',
            "src/lib.rs": """
#[cfg(test)]
mod tests {
    #[test]
    fn sum() { assert_eq!(1, 2); }
    #[test]
    fn summary() {}
}
""",
        },
        {"tests::sum"},
        1,
    ),
    "ctest": Project(
        "ctest",
        "ctest --test-dir build --output-on-failure",
        {
            "CMakeLists.txt": "cmake_minimum_required(VERSION 3.16)\nproject(shop NONE)\nenable_testing()\n"
            "add_test(NAME cart.sum+1 COMMAND false)\nadd_test(NAME cart.sum COMMAND true)\n",
        },
        {"cart.sum+1"},
        1,
        setup="cmake -S . -B build",
        also=("cmake",),
    ),
    "maven": Project(
        "mvn",
        f"mvn -B -o -Dmaven.repo.local={MAVEN} test",
        {
            "pom.xml": POM,
            "src/test/java/shop/CartTest.java": """package shop;
import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.*;
import org.junit.jupiter.params.*;
import org.junit.jupiter.params.provider.*;
class CartTest {
  @Test void sum() { assertEquals(1, 2); }
  @Test void sumOfNothing() { }
  @ParameterizedTest @ValueSource(ints = {1, 2}) void row(int n) { assertEquals(1, n); }
  @Nested class Inner { @Test void deep() { assertEquals(1, 2); } @Test void fine() { } }
}
""",
        },
        {"shop.CartTest#row(int)[2]", "shop.CartTest#sum", "shop.CartTest$Inner#deep"},
        4,
        environment={"MAVEN_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"},
        needs=(MAVEN / "org/apache/maven/plugins/maven-surefire-plugin/3.2.5",),
    ),
}
