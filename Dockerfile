# syntax=docker/dockerfile:1

FROM rust:1.95-bookworm AS build
WORKDIR /src
COPY . .
# A smaller program, of which less is in memory; it takes twice as long to build. The addresses that
# its start fills in are listed in a fifteenth of the space, which takes glibc 2.36 or newer.
ENV CARGO_PROFILE_RELEASE_LTO=thin CARGO_PROFILE_RELEASE_CODEGEN_UNITS=1 \
    RUSTFLAGS="-Clink-arg=-Wl,-z,pack-relative-relocs"
# What was compiled once is kept between builds: registry, dependencies and target directory.
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/src/target \
    cargo build --release --locked --bin fileshed \
    && install -D target/release/fileshed /out/fileshed

FROM debian:bookworm-slim AS standard
# First what the server needs itself, then the package of every command that it offers.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends \
        ca-certificates \
        tini \
        zlib1g \
# commands: begin
        bc \
        binutils \
        bsdextrautils \
        bzip2 \
        colordiff \
        coreutils \
        curl \
        dc \
        diffutils \
        dos2unix \
        ffmpeg \
        file \
        findutils \
        gawk \
        gettext-base \
        git \
        grep \
        gzip \
        imagemagick \
        img2pdf \
        jq \
        less \
        libc-bin \
        libimage-exiftool-perl \
        librsvg2-bin \
        libxml2-utils \
        lz4 \
        ncal \
        p7zip-full \
        pandoc \
        patch \
        poppler-utils \
        recode \
        ripgrep \
        sed \
        sharutils \
        sqlite3 \
        tar \
        tree \
        unzip \
        util-linux \
        weasyprint \
        wget \
        xlsx2csv \
        xxd \
        xz-utils \
        yq \
        zip \
        zstd \
# commands: end
        tesseract-ocr \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --user-group --no-create-home --shell /usr/sbin/nologin fileshed \
    && install -d -o fileshed -g fileshed -m 0700 /data
COPY --from=build /out/fileshed /usr/local/bin/fileshed

ENV FILESHED_BIND=0.0.0.0:8000 \
    FILESHED_STORAGE_BASE_PATH=/data
VOLUME /data
EXPOSE 8000
USER fileshed
WORKDIR /data
# The server starts only with FILESHED_API_KEYS, FILESHED_OPENWEBUI_API_URL or
# FILESHED_WEBUI_SECRET_KEY: it is reachable from other machines, and has to know who calls.
HEALTHCHECK --interval=15s --timeout=5s --start-period=10s \
    CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/8000 && printf 'GET /ready HTTP/1.0\\r\\n\\r\\n' >&3 && grep -q '^HTTP/1.. 200' <&3"]
ENTRYPOINT ["tini", "--", "fileshed"]
CMD ["serve"]

# With interpreters and what they are used for (docker-compose.full.yml), where the kernel is the only
# wall: docker build --target full .
FROM standard AS full
USER root
RUN apt-get update \
    && apt-get install --yes --no-install-recommends \
        build-essential \
        nodejs \
        npm \
        python3 \
        python3-docx \
        python3-matplotlib \
        python3-numpy \
        python3-openpyxl \
        python3-pandas \
        python3-pip \
        python3-venv \
    && rm -rf /var/lib/apt/lists/*
USER fileshed
ENV FILESHED_EXEC_PROGRAMS=*

# What is built where no target is named.
FROM standard
