"""Names whose owner is known without looking."""

from __future__ import annotations

import sys


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


PYTHON_STANDARD = frozenset(sys.stdlib_module_names) | words(
    "distutils imp asyncore asynchat smtpd cgi pipes crypt telnetlib"
)
# Packages whose submodules are often asked for by a dotted name.
PYTHON_WELL_KNOWN = words(
    "google azure zope numpy scipy sklearn pandas matplotlib tensorflow keras torch torchvision "
    "transformers django rest_framework "
    "flask werkzeug jinja2 sqlalchemy alembic pydantic fastapi starlette requests urllib3 botocore boto3 "
    "aiohttp celery kombu redis "
    "pytest _pytest setuptools pkg_resources pip wheel six yaml cv2 PIL skimage networkx sympy nltk spacy "
    "gensim langchain openai "
    "anthropic grpc opentelemetry prometheus_client psycopg2 psycopg pymysql MySQLdb pymongo twisted "
    "tornado gevent eventlet lxml "
    "bs4 selenium playwright sphinx docutils cryptography jwt OpenSSL attr attrs click rich typer httpx "
    "anyio trio jupyter IPython "
    "notebook dask ray airflow prefect mlflow wandb plotly bokeh seaborn statsmodels xgboost lightgbm jax "
    "flax optax "
    "hypothesis mock nose coverage tox mypy black isort ruff marshmallow wtforms markupsafe "
    "itsdangerous"
)
NODE_BUILTIN = words(
    "assert async_hooks buffer child_process cluster crypto dgram diagnostics_channel dns domain events fs "
    "http http2 https inspector "
    "module net os path perf_hooks process punycode querystring readline repl stream string_decoder timers "
    "tls tty url util v8 vm "
    "wasi worker_threads zlib"
)
GO_STANDARD = words(
    "archive bufio bytes cmp compress container context crypto database debug embed encoding errors expvar "
    "flag fmt go hash html image "
    "index io iter log maps math mime net os path plugin reflect regexp runtime slices sort strconv "
    "strings structs sync syscall "
    "testing text time unicode unique unsafe weak"
)
# Hosts that RFC 2606 reserves: no module can be fetched from them.
RESERVED_HOSTS = frozenset({"example.com", "example.org", "example.net", "localhost"})
FORGES = frozenset({"github.com", "gitlab.com", "bitbucket.org", "codeberg.org"})
JVM_PLATFORM = frozenset({"java", "javax", "jdk", "sun", "javafx", "jakarta", "kotlin", "scala"})
# Headers that projects also include in quotes although others provide them.
C_WELL_KNOWN = words(
    "Python.h gtest gmock boost openssl curl fmt spdlog catch2 doctest SDL2 SDL.h GL GLFW zlib.h png.h "
    "jpeglib.h sqlite3.h libpq-fe.h "
    "mysql hiredis nlohmann absl google grpcpp opencv2 Eigen eigen3 cuda_runtime.h mpi.h pybind11 readline "
    "ncurses.h uv.h event2 "
    "jni.h ruby.h node_api.h napi.h v8.h linux X11 gsl fftw3.h lua.h lua.hpp pthread.h unistd.h alsa pulse "
    "bits sys"
)
PHP_WELL_KNOWN = words(
    "Monolog Symfony Illuminate GuzzleHttp Doctrine PHPUnit Carbon Ramsey Twig Psr League Laravel Predis "
    "Firebase "
    "Mockery Faker Nette Laminas Slim Aws Google Stripe Intervention Spatie Phalcon Cake Zend React Amp "
    "Swoole Sentry "
    "Dotenv Composer Webmozart Brick Nyholm Http PhpParser Prophecy Behat Codeception PhpAmqpLib MongoDB "
    "Elasticsearch "
    "Endroid Dompdf PhpOffice Smarty Latte Ratchet Pest Orchestra Nesbot Bramus FastRoute DI Pimple Money"
)
DOTNET_WELL_KNOWN = words(
    "Newtonsoft Xunit NUnit Moq Serilog AutoMapper FluentAssertions FluentValidation MediatR Dapper "
    "Microsoft Polly NLog StackExchange "
    "Npgsql MySql MongoDB RabbitMQ Swashbuckle Azure Amazon Google Grpc MassTransit NSubstitute Bogus "
    "Humanizer CsvHelper RestSharp "
    "System Castle Shouldly Autofac Hangfire Quartz SixLabors Avalonia ReactiveUI MessagePack "
    "BenchmarkDotNet "
    "Fact Theory InlineData TestMethod TestClass Test TestFixture"
)
# Names that projects give to their own modules and that nobody publishes under.
SCRIPT_NAMES = words(
    "test tests unit e2e build start dev serve watch lint format fmt check typecheck type-check coverage "
    "cov clean ci release"
)
HOUSEHOLD_NAMES = words(
    "app apps api src lib libs core common shared util utils helper helpers tools config configs conf "
    "settings constants const types "
    "models model views controllers controller services service server client main tests test testing spec "
    "specs conftest fixtures "
    "mocks internal pkg cmd domain handlers handler routes router middleware db database store components "
    "component hooks pages "
    "scripts support spec_helper rails_helper test_helper bootstrap project package module mymodule "
    "mypackage myapp"
)
